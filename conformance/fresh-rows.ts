/**
 * What a server that was just started says of itself: discovery, OpenAPI, the columns of every kind
 * and the objects that are there. Of an answer counts what two servers have in common, document by
 * document; large ones as digests of their parts.
 */
import { createHash } from 'node:crypto'
import type { Json } from '#api/object-meta.ts'

type Body = { [key: string]: Json }
export type Reader = (path: string, accept: string) => Promise<Body>

/** One reported value: where it is read, and what it is. */
export type FreshRow = readonly [what: string, said: Json]

const json = 'application/json'
const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io'

interface Listed {
  readonly name: string
  readonly verbs: readonly string[]
}

/** These depend on when they are read, or on where the server runs. */
const ofTheMoment = new Set([
  '/api/v1/componentstatuses',
  '/api/v1/events',
  '/apis/events.k8s.io/v1/events',
  '/apis/events.k8s.io/v1beta1/events',
  '/api/v1/secrets',
  '/api/v1/serviceaccounts',
  '/api/v1/configmaps',
  '/apis/coordination.k8s.io/v1/leases',
])

export async function freshRows(ask: Reader): Promise<FreshRow[]> {
  const rows: FreshRow[] = []
  const keep = async (path: string) => {
    const body = await ask(path, json)
    rows.push([path, plain(body)])
    return body
  }
  const { groups } = (await keep('/apis')) as unknown as { groups: { name: string }[] }
  const roots = ['/api/v1']
  for (const { name } of groups) {
    const { versions } = await keep(`/apis/${name}`)
    for (const one of versions as Body[]) roots.push(`/apis/${one.groupVersion as string}`)
  }
  for (const root of roots) {
    const { resources } = (await keep(root)) as unknown as { resources: Listed[] }
    for (const { name, verbs } of resources) {
      if (!verbs.includes('list')) continue
      const path = `${root}/${name}`
      const table = await ask(path, asTable)
      rows.push([`${path} as table`, plain(table.columnDefinitions as Json)])
      if (ofTheMoment.has(path)) continue
      const { items } = await ask(path, json)
      for (const item of items as Body[])
        rows.push([`${path} ${titleOf(item)}`, digestOf(item, own)])
    }
  }
  const { paths, definitions, parameters = {}, ...rest } = await ask('/openapi/v2', json)
  rows.push(['/openapi/v2', plain(rest)])
  const whole = withoutReferences(paths as Json, parameters as Body)
  for (const [of, parts] of Object.entries({ paths: whole, definitions }))
    for (const [name, part] of Object.entries(parts as Body))
      rows.push([`/openapi/v2 ${of} ${name}`, digestOf(part)])
  return rows.filter(([what]) => !notServed.test(what))
}

/**
 * kube-apiserver refers to shared parameters by a name that holds a digest of their prose. What
 * counts is the parameter.
 */
function withoutReferences(value: Json, parameters: Body): Json {
  const shared = '#/parameters/'
  return JSON.parse(JSON.stringify(value), (_key, one) => {
    const name = one?.$ref
    return typeof name === 'string' && name.startsWith(shared)
      ? parameters[name.slice(shared.length)]
      : one
  })
}

/** kube-apiserver serves the log files of its machine. */
const notServed = /^\/openapi\/v2 paths \/logs\//

const titleOf = ({ metadata }: Body): string => {
  const { namespace, name } = metadata as Body
  return [namespace, name].filter(Boolean).join('/')
}

function digestOf(value: Json, without: ReadonlySet<string> = nothing): string {
  const text = JSON.stringify(plain(value, without))
  return createHash('sha256').update(text).digest('hex').slice(0, 10)
}

const nothing: ReadonlySet<string> = new Set()
/** What every server has of its own: times and ids, and its place. */
const own: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'managedFields',
  'lastTransitionTime',
  'clusterIP',
  'clusterIPs',
  'subsets',
  'endpoints',
  'ports',
])

/** In one order, without prose and without some members. */
function plain(value: Json, without = nothing): Json {
  if (Array.isArray(value)) return value.map((one) => plain(one, without))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.keys(value)
      .filter((key) => !without.has(key))
      .filter((key) => key !== 'description' || typeof value[key] !== 'string')
      .sort()
      .map((key) => [key, plain(value[key] as Json, without)]),
  )
}
