/**
 * Requests about an object, in the shapes of the recordings: its life from the dry run to the end,
 * its other versions, a mangled copy, changes of single fields, and writes to its subresources.
 * Pure: a seed and an object make the steps.
 */
import type { Json } from '#api/object-meta.ts'
import { type Base, type Body, isMap, type Place } from './base-objects.ts'
import type { Struct } from '#schema/type.ts'
import { damage, grow } from './damage.ts'
import type { Random } from './random.ts'
import { type DeclaredValues, randomValue } from './random-value.ts'
import type { Step } from './two-servers.ts'

const merge = { 'content-type': 'application/merge-patch+json' }
const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
const jsonPatch = { 'content-type': 'application/json-patch+json' }
const apply = { 'content-type': 'application/apply-patch+yaml' }
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }

/**
 * What is known of the kind: the places that show the same objects, its type, and the values
 * declared for named texts.
 */
export interface Known {
  readonly others: readonly Place[]
  readonly type: Struct
  readonly declared: DeclaredValues
}
export type Shape = (base: Base, random: Random, known: Known) => Step[]

export const pathOf = ({ at, plural, namespaced }: Place): string =>
  `${at}${namespaced ? '/namespaces/{id}' : ''}/${plural}`

const nameOf = ({ metadata }: Body): string =>
  encodeURIComponent((metadata as Body).name as string).replaceAll('%7Bid%7D', '{id}')
const get = (path: string, headers: Step['headers'] = {}): Step => ({
  method: 'GET',
  path,
  headers,
})
const patch = (path: string, headers: Step['headers'], body: Json): Step => ({
  method: 'PATCH',
  path,
  headers: headers ?? {},
  body,
})

function life(base: Base): Step[] {
  const { object } = base
  const all = pathOf(base)
  const one = `${all}/${nameOf(object)}`
  const labelled = { ...object, metadata: { ...(object.metadata as Body), labels: { put: 'yes' } } }
  return [
    { method: 'POST', path: `${all}?dryRun=All`, body: object },
    { method: 'POST', path: `${all}?fieldManager=maker`, body: object },
    get(one),
    get(one, table),
    { method: 'POST', path: all, body: object },
    patch(`${one}?fieldManager=labeller`, merge, { metadata: { labels: { tier: 'gold' } } }),
    patch(`${one}?fieldManager=annotator`, strategic, {
      metadata: { annotations: { note: 'one' } },
    }),
    patch(one, jsonPatch, [
      { op: 'test', path: '/metadata/labels/tier', value: 'gold' },
      { op: 'remove', path: '/metadata/labels/tier' },
    ]),
    { method: 'PUT', path: `${one}?fieldManager=putter`, body: labelled },
    get(`${all}?fieldSelector=metadata.name%3D${nameOf(object)}`, table),
    { method: 'DELETE', path: one },
    get(one),
  ]
}

function converted(base: Base, _: Random, { others }: Known): Step[] {
  const { object } = base
  const steps: Step[] = [
    { method: 'POST', path: `${pathOf(base)}?fieldManager=maker`, body: object },
  ]
  for (const place of others) {
    const one = `${pathOf(place)}/${nameOf(object)}`
    const manager = place.at.replace(/^\/apis?\//, '').replaceAll('/', '-')
    const labels = { [manager.replace('.k8s.io', '')]: 'seen' }
    steps.push(get(one), get(one, table))
    steps.push(patch(`${one}?fieldManager=${manager}`, merge, { metadata: { labels } }))
  }
  for (const place of others) steps.push(get(`${pathOf(place)}/${nameOf(object)}`))
  return [...steps, { method: 'DELETE', path: `${pathOf(base)}/${nameOf(object)}` }]
}

type Places = [holder: Body | Json[], key: string | number][]

function placesIn(value: Json, found: Places = []): Places {
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      found.push([value, i])
      placesIn(item, found)
    }
  } else if (isMap(value)) {
    for (const key of Object.keys(value)) {
      found.push([value, key])
      placesIn(value[key] as Json, found)
    }
  }
  return found
}

const wrong: readonly Json[] = [
  'UPPER_case',
  'a'.repeat(300),
  'not right',
  'zzz',
  '',
  -1,
  70000,
  8071137005907524000,
  42,
  1.5,
  true,
  null,
  ['x'],
  { x: 'y' },
]

/**
 * Changes one place of a copy: removed, duplicated, given a value of another type, or an unknown
 * field beside it.
 */
export function mangle(object: Body, random: Random): Body {
  const copy = structuredClone(object)
  const places = placesIn(copy).filter(
    ([holder, key]) => holder !== copy || !['apiVersion', 'kind'].includes(key as string),
  )
  if (places.length === 0) return copy
  const [holder, key] = random.pick(places)
  const members = holder as { [key: string | number]: Json }
  switch (random.below(9)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(key as number, 1)
      else delete members[key]
      break
    case 1: {
      const value = members[key] as Json
      if (Array.isArray(value)) value.push(...(structuredClone(value) as Json[]))
      else members[key] = [value, structuredClone(value)]
      break
    }
    case 2: {
      const value = members[key] as Json
      if (isMap(value)) value.unknownField = 'x'
      else members[key] = 'zzz'
      break
    }
    default:
      members[key] = structuredClone(random.pick(wrong))
  }
  return copy
}

const mangled: Shape = (base, random) => [
  { method: 'POST', path: `${pathOf(base)}?dryRun=All`, body: mangle(base.object, random) },
]

/** Fields grown from the type, and sometimes damage, created and written over what is there. */
const grown: Shape = (base, random, { type, declared }) => {
  const all = pathOf(base)
  const variant = () => {
    const copy = structuredClone(base.object)
    for (let i = random.below(4); i > 0; i--) grow(type, copy, random, declared)
    if (random.chance(0.3)) damage(copy, random)
    return copy
  }
  return [
    { method: 'POST', path: `${all}?dryRun=All`, body: variant() },
    { method: 'POST', path: `${all}?dryRun=All`, body: variant() },
    { method: 'POST', path: all, body: base.object },
    { method: 'PUT', path: `${all}/${nameOf(base.object)}`, body: variant() },
    { method: 'PUT', path: `${all}/${nameOf(base.object)}`, body: variant() },
    { method: 'DELETE', path: `${all}/${nameOf(base.object)}` },
  ]
}

const values: readonly Json[] = [null, 3, 7, 'other', '25%', true, ['x'], { a: 'b' }]

/** A patch of one field, at most three names deep, never of what says which object it is. */
function oneField(object: Body, random: Random, depth = 0): Json {
  const names = Object.keys(object).filter(
    (name) => depth > 0 || !['apiVersion', 'kind', 'metadata', 'status'].includes(name),
  )
  if (names.length === 0) return { metadata: { labels: random.pick(values) } }
  const name = random.pick(names)
  const value = object[name] as Json
  if (depth < 3 && isMap(value) && Object.keys(value).length > 0 && random.chance(0.7))
    return { [name]: oneField(value, random, depth + 1) }
  return { [name]: structuredClone(random.pick(values)) }
}

const changed: Shape = (base, random) => {
  const all = pathOf(base)
  const one = `${all}/${nameOf(base.object)}`
  const steps: Step[] = [{ method: 'POST', path: all, body: base.object }]
  for (let i = 0; i < 6; i++) {
    const headers = random.chance(0.5) ? merge : strategic
    steps.push(patch(one, headers, oneField(base.object, random)))
  }
  steps.push({ method: 'PUT', path: one, body: mangle(base.object, random) }, get(one))
  return [...steps, { method: 'DELETE', path: one }]
}

/** Writes to the subresources that many kinds have, applies, and deletions with options. */
const beside: Shape = (base, random) => {
  const all = pathOf(base)
  const one = `${all}/${nameOf(base.object)}`
  const options: readonly Json[] = [
    { propagationPolicy: 'Foreground' },
    { propagationPolicy: 'Orphan', dryRun: ['All'] },
    { propagationPolicy: 'Background', gracePeriodSeconds: 0 },
    { propagationPolicy: 'Sideways' },
    { orphanDependents: true, propagationPolicy: 'Orphan' },
    { preconditions: { uid: 'other' } },
    { preconditions: { resourceVersion: '1' } },
    { gracePeriodSeconds: -1 },
    { dryRun: ['Some'] },
    { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 5 },
    { kind: 'Pod', apiVersion: 'v1' },
  ]
  const { status = {}, ...rest } = base.object
  const withStatus = { ...rest, status: isMap(status) ? status : {} }
  return [
    patch(`${one}?fieldManager=one`, apply, base.object),
    patch(`${one}?fieldManager=two`, apply, mangle(base.object, random)),
    get(`${one}/status`),
    patch(`${one}/status`, merge, {
      status: oneField({ replicas: 1, phase: 'x', ...(status as Body) }, random, 1),
    }),
    { method: 'PUT', path: `${one}/status`, body: withStatus },
    get(`${one}/scale`),
    patch(`${one}/scale`, merge, { spec: { replicas: random.pick(values) } }),
    { method: 'PUT', path: `${one}?dryRun=All`, body: mangle(base.object, random) },
    { method: 'DELETE', path: `${one}?dryRun=All`, body: random.pick(options) },
    { method: 'DELETE', path: one, body: random.pick(options) },
    get(one),
    get(`${all}?fieldSelector=metadata.name%3D${nameOf(base.object)}&limit=1`, table),
    { method: 'DELETE', path: `${all}?fieldSelector=metadata.name%3D${nameOf(base.object)}` },
    get(one),
  ]
}

/** What a controller reports and what users may not, and replicas set through a Scale. */
const reported: Shape = (base, random, { type, declared }) => {
  const all = pathOf(base)
  const one = `${all}/${nameOf(base.object)}`
  const statusType = type.byName.get('status')?.type
  const status = (): Json =>
    statusType === undefined ? {} : randomValue(statusType, 'status', random, declared, 2)
  const scale = (metadata: Body, replicas: Json): Json => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: (base.object.metadata as Body).name as string, ...metadata },
    spec: { replicas },
  })
  return [
    { method: 'POST', path: all, body: { ...base.object, status: status() } },
    get(`${one}/status`),
    patch(`${one}/status?fieldManager=ctrl`, merge, { status: status() }),
    patch(`${one}/status?fieldManager=ctrl`, strategic, { status: status(), spec: null }),
    get(one, table),
    patch(`${one}?fieldManager=user`, merge, {
      metadata: { annotations: { a: 'b' } },
      status: null,
    }),
    patch(`${one}/status`, merge, { status: 'wrong' }),
    { method: 'PUT', path: `${one}/status`, body: { ...base.object, status: status() } },
    { method: 'DELETE', path: `${one}/status` },
    get(`${one}/scale`),
    { method: 'PUT', path: `${one}/scale`, body: scale({ namespace: '{id}' }, 4) },
    patch(`${one}/scale`, merge, { spec: { replicas: random.pick([6, -1, 0, 'x', null]) } }),
    { method: 'PUT', path: `${one}/scale`, body: scale({ resourceVersion: '1' }, 1) },
    patch(`${one}/scale?fieldManager=hpa`, apply, scale({}, 7)),
    get(`${one}/scale`, table),
    get(one),
    get(`${all}/none/scale`),
    { method: 'DELETE', path: one },
  ]
}

export const shapes: Readonly<Record<string, Shape>> = {
  life,
  converted,
  mangled,
  changed,
  beside,
  grown,
  reported,
}
