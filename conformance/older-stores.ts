/**
 * What an older release left in an etcd, read by a newer one and by this server from the same etcd:
 * every object must be shown alike, through every version, to the last resourceVersion. First
 * objects of all kinds are written, then they are read:
 *
 *   node tools/run.mjs file conformance/older-stores.ts
 *       --write URL              # the older server, which is stopped then
 *   node tools/run.mjs file conformance/older-stores.ts --peer URL --ours URL
 *       # the newer one and this one, on its etcd
 *
 * Nothing is deleted: the etcd is to be thrown away.
 */
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { Json } from '#api/object-meta.ts'
import { type Body, isMap, recordedObjects } from './base-objects.ts'
import type { Client, Replayer } from './two-servers.ts'
import { walkedObjects } from './walked-objects.ts'

interface Resource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}
interface Place extends Resource {
  readonly apiVersion: string
  readonly root: string
}

const root = resolve(import.meta.dirname, '..')
const shared = join(root, '../shared')
const namespace = 'older'
/** Names of these say what they are. */
const namedByThemselves = new Set(['CustomResourceDefinition', 'APIService'])

async function asked(client: Client, path: string): Promise<Body> {
  const { status, text } = await client.request({ method: 'GET', path })
  return status === 200 ? (JSON.parse(text) as Body) : {}
}

/** Every main resource of every version that a server has. */
async function placesOf(client: Client): Promise<Place[]> {
  const groups = ((await asked(client, '/apis')).groups ?? []) as Body[]
  const named = groups.flatMap(({ versions }) =>
    (versions as Body[]).map(({ groupVersion }) => String(groupVersion)),
  )
  const places: Place[] = []
  for (const apiVersion of ['v1', ...named]) {
    const at = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
    const { resources } = await asked(client, at)
    for (const one of (resources ?? []) as unknown as Resource[]) {
      if (!one.name.includes('/')) places.push({ ...one, apiVersion, root: at })
    }
  }
  return places
}

function objectFor(place: Place, body: Body, n: number): Body {
  const text = JSON.stringify({ ...body, apiVersion: place.apiVersion }).replaceAll('{id}', `w${n}`)
  const object = JSON.parse(text) as Body
  const { labels, annotations, name } = (object.metadata ?? {}) as Body
  object.metadata = {
    name: namedByThemselves.has(place.kind) ? (name ?? '') : `w${n}`,
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
  }
  return object
}

async function write(client: Client): Promise<void> {
  const create = (path: string, body: unknown) => client.request({ method: 'POST', path, body })
  await create('/api/v1/namespaces', { metadata: { name: namespace } })
  const account = { metadata: { name: 'default' }, automountServiceAccountToken: false }
  await create(`/api/v1/namespaces/${namespace}/serviceaccounts`, account)
  const places = (await placesOf(client)).filter(({ verbs }) => verbs.includes('list'))
  const bodies = [
    ...recordedObjects(join(shared, 'golden')),
    ...walkedObjects.map(({ object }) => object),
  ]
  let made = 0
  for (const [n, body] of bodies.entries()) {
    for (const place of places.filter(({ kind }) => kind === body.kind)) {
      const within = place.namespaced ? `/namespaces/${namespace}` : ''
      const path = `${place.root}${within}/${place.name}`
      if ((await create(path, objectFor(place, body, n))).status === 201) made++
    }
  }
  console.log(`${made} objects are written`)
}

const itemsOf = ({ items }: Body): Map<string, Json> =>
  new Map(
    ((items ?? []) as Body[]).map((item) => {
      const { namespace: at = '', name } = isMap(item.metadata) ? item.metadata : {}
      return [`${at}/${name}`, item]
    }),
  )

async function compare({ firstDiff }: Replayer, peer: Client, ours: Client): Promise<number> {
  let [compared, differing] = [0, 0]
  for (const { root: at, name, verbs } of await placesOf(peer)) {
    if (!verbs.includes('list')) continue
    const [want, got] = (
      await Promise.all([asked(peer, `${at}/${name}`), asked(ours, `${at}/${name}`)])
    ).map(itemsOf) as [Map<string, Json>, Map<string, Json>]
    for (const key of new Set([...want.keys(), ...got.keys()])) {
      compared++
      const difference = firstDiff(want.get(key), got.get(key))
      if (difference === undefined) continue
      differing++
      console.log(`${at}/${name} ${key}\n  ${JSON.stringify(difference).slice(0, 500)}`)
    }
  }
  console.log(`${compared} objects are compared, ${differing} differ`)
  return differing
}

const { values } = parseArgs({
  options: {
    write: { type: 'string' },
    peer: { type: 'string' },
    ours: { type: 'string' },
    lib: { type: 'string', default: join(shared, 'replay/lib.mjs') },
  },
})
const lib = (await import(pathToFileURL(values.lib).href)) as Replayer
const clientOf = (server: string) => new lib.Client({ server, tokens: { admin: 'admin-token' } })
if (values.write !== undefined) await write(clientOf(values.write))
else if (values.peer === undefined || values.ours === undefined) {
  throw new Error('say --write URL, or --peer URL and --ours URL')
} else {
  process.exitCode = (await compare(lib, clientOf(values.peer), clientOf(values.ours))) > 0 ? 1 : 0
}
