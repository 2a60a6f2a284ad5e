/** Random watches, from every version and path. */
import { encode, query, type Scene, type RequestMaker } from './scene.ts'
import type { Step } from './two-servers.ts'

export const watches: RequestMaker = (random, scene) => {
  const name = random.pick(scene.names)
  const parameters = query(
    random,
    {
      resourceVersion: ['0', '$rv', '$first', '', 'abc', '-1', '1'],
      allowWatchBookmarks: ['true', '1', 'false', 'x'],
      labelSelector: ['n%3Da', 'n', 'n%20in%20()', '!n', '%3Da'],
      fieldSelector: [`metadata.name%3D${name}`, 'metadata.name!%3Da', 'data.n%3Da'],
      limit: ['1', 'x'],
      resourceVersionMatch: ['Exact', 'NotOlderThan'],
      continue: ['garbage', ''],
      pretty: ['true'],
    },
    0.3,
  )
  const watch = random.pick([
    'watch=1',
    'watch=true',
    'watch=True',
    'watch=x',
    'watch=0',
    'watch=',
    'watch',
  ])
  const timeout = random.pick([
    'timeoutSeconds=1',
    'timeoutSeconds=1',
    'timeoutSeconds=1',
    'timeoutSeconds=1&timeoutSeconds=x',
  ])
  const first: Step = { method: 'GET', path: `${scene.collection}/${name}` }
  const only = scene.namespaced ? '' : `&labelSelector=${encode(`run=${scene.id}`)}`
  const place = random.pick(['collection', 'collection', 'item', 'deprecated', 'deprecated-item'])
  const path = {
    collection: scene.collection,
    item: `${scene.collection}/${name}`,
    deprecated: watchPath(scene, ''),
    'deprecated-item': watchPath(scene, `/${name}`),
  }[place] as string
  return [first, { method: 'GET', path: `${path}?${watch}&${timeout}${only}&${parameters}` }]
}

export const watchPath = ({ at, collection }: Scene, rest: string): string =>
  `${at}/watch${collection.slice(at.length)}${rest}`
