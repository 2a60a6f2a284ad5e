/** Random reads: versions, selectors, single objects, heads. */
import { watchPath } from './watch-requests.ts'
import { encode, own, query, type Scene, type RequestMaker } from './scene.ts'
import type { Random } from './random.ts'
import type { Step } from './two-servers.ts'

export const requestedVersions = [
  '',
  '0',
  '$rv',
  '$first',
  '999999999',
  'abc',
  '-1',
  '1.5',
  '00',
  '+1',
]

const hugeVersions = ['9223372036854775807', '18446744073709551615', '18446744073709551616', '0x10']

const matches = ['', 'Exact', 'NotOlderThan', 'Bogus', 'exact']

const limits = ['0', '1', '2', '3', '500', '-1', 'x', '', '1.5', '9223372036854775808', '%202']

const tokens = [
  '$continue',
  'garbage',
  '',
  'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0',
]

const labelPieces = [
  'n',
  'n=a',
  'n==b',
  'n!=a',
  '!n',
  'n in (a,b)',
  'n notin (a)',
  'n in (b,a,)',
  'n>1',
  'n<5',
  'm',
]

const labelOddities = [
  'n in ()',
  'n gt 1',
  '=a',
  'n=a b',
  'n in (a',
  'UP..=x',
  ',',
  'n,',
  ',n',
  'n=',
  'n!=',
  'a/b/c=1',
  'x.y/n',
  'n=a=b',
  'n in a',
  '! n',
  '!n=a',
  'n==',
  'n>=1',
  'n>x',
  'n in (a b)',
  'in',
  'notin in (in)',
  'n  in\t(a)',
  '/n',
  'n/',
  'é=1',
  'n=-a',
  `n=${'x'.repeat(64)}`,
  `${'y'.repeat(64)}`,
  'n in (,)',
  '()',
  '!',
  '!!n',
  'n notin',
  'n=a,,m',
]

const fieldPieces = [
  'metadata.name=$a',
  'metadata.name==$b',
  'metadata.name!=$a',
  'metadata.namespace=$ns',
  'metadata.namespace!=x',
]

const fieldOddities = [
  'metadata.name',
  'data.n=a',
  'metadata.uid=1',
  'metadata.name=',
  '=a',
  'metadata.name=$a,metadata.name=$b',
  ',',
  'metadata.name>a',
  'spec.nodeName=n',
  'status.phase=Running',
  'type=Opaque',
  'metadata.name=a\\,b',
  'metadata.name=a\\x',
  'a\\=b=c',
  'spec.restartPolicy!=Never',
  'metadata.name=x\\',
  'metadata.labels.n=a',
  'spec.unschedulable=true',
  'involvedObject.name=x',
  'status.successful=1',
  'spec.schedulerName=default-scheduler',
  'status.replicas=0',
  'metadata.name in (a)',
  'metadata.name=$a=',
  'spec.clusterIP=None',
  'spec.serviceAccountName=default',
  'status.nominatedNodeName=',
]

export function labelSelector(random: Random): string {
  if (random.chance(0.3)) return random.pick(labelOddities)
  return Array.from({ length: 1 + random.below(3) }, () => random.pick(labelPieces)).join(',')
}

export function fieldSelector(random: Random, { names, id }: Scene): string {
  const text = random.chance(0.4)
    ? random.pick(fieldOddities)
    : Array.from({ length: 1 + random.below(2) }, () => random.pick(fieldPieces)).join(',')
  return text
    .replaceAll('$a', names[0] as string)
    .replaceAll('$b', names[1] as string)
    .replaceAll('$ns', id)
}

export const versions: RequestMaker = (random, scene) => {
  const first: Step = {
    method: 'GET',
    path: `${scene.collection}?${own(scene)}limit=${1 + random.below(3)}`,
  }
  const asked = random.chance(0.15) ? hugeVersions : requestedVersions
  const parameters = query(
    random,
    { resourceVersion: asked, resourceVersionMatch: matches, limit: limits, continue: tokens },
    0.55,
  )
  return [first, { method: 'GET', path: `${scene.collection}?${own(scene)}${parameters}` }]
}

export const selectors: RequestMaker = (random, scene) => {
  const parts: string[] = []
  if (random.chance(0.6)) parts.push(`labelSelector=${encode(labelSelector(random))}`)
  if (random.chance(0.6)) parts.push(`fieldSelector=${encode(fieldSelector(random, scene))}`)
  if (random.chance(0.2)) parts.push(`limit=${random.pick(['1', '2'])}`)
  if (random.chance(0.2)) parts.push(`resourceVersion=${random.pick(['0', '$rv'])}`)
  if (!scene.namespaced && !parts.some((part) => part.startsWith('label'))) {
    parts.push(own(scene).slice(0, -1))
  }
  return [{ method: 'GET', path: `${scene.collection}?${parts.join('&')}` }]
}

export const gets: RequestMaker = (random, scene) => {
  const name = random.pick([
    ...scene.names,
    'missing',
    'UPPER',
    'a%20b',
    'a%2Fb',
    '%00',
    'x'.repeat(300),
  ])
  const parameters = query(
    random,
    {
      resourceVersion: [...requestedVersions, ...hugeVersions],
      pretty: ['true', '1', '0', 'x', ''],
      exact: ['true'],
      export: ['true'],
    },
    0.4,
  )
  return [{ method: 'GET', path: `${scene.collection}/${name}?${parameters}` }]
}

export const heads: RequestMaker = (random, scene) => {
  const name = random.pick([...scene.names, 'missing'])
  const path = random.pick([
    `${scene.collection}?${own(scene)}`,
    `${scene.collection}/${name}`,
    `${scene.collection}/${name}/status`,
    `${scene.collection}/${name}?resourceVersion=abc`,
    `${scene.collection}?${own(scene)}watch=1&timeoutSeconds=1`,
    '/api',
    '/apis',
    '/version',
    '/healthz',
    '/healthz/log',
    '/nothing',
    `${scene.at}/nothing`,
    '/apis/nope.example/v1/x',
    scene.at,
    '/livez/nope',
    watchPath(scene, ''),
  ])
  return [{ method: random.pick(['HEAD', 'HEAD', 'OPTIONS']), path }]
}
