/**
 * Random patches of a live object, of every type that is no apply: most of them make sense, and
 * some are damaged in one place. A damaged patch has one thing wrong, because kube-apiserver may
 * report either of two.
 */
import type { Json } from '#api/object-meta.ts'
import type { Field, Struct, Type } from '#schema/type.ts'
import type { Random } from './random.ts'
import { type DeclaredValues, randomValue } from './random-value.ts'

type Body = { [key: string]: Json }

const isBody = (value: Json | undefined): value is Body =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const oddValues: readonly Json[] = [
  null,
  '',
  'x',
  -1,
  0,
  1.5,
  true,
  [],
  {},
  [1],
  ['a', 'a'],
  [null],
  [{}],
  [{ name: 'a' }, { name: 'a' }],
  [[1]],
  { a: null },
  { $patch: 'replace' },
  { $patch: 'delete' },
  { $patch: 'frob' },
  { $patch: 1 },
  { $retainKeys: ['a'] },
  { $retainKeys: 'a' },
  { $setElementOrder: ['a'] },
  { $deleteFromPrimitiveList: ['a'] },
]

/** Where the object has something, as pointers. */
function pointers(value: Json, at: string, out: string[]): void {
  if (at !== '') out.push(at)
  if (value === null || typeof value !== 'object') return
  for (const [name, item] of Object.entries(value)) {
    if (name === 'managedFields') continue
    pointers(item as Json, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, out)
  }
}

function oddPointer(random: Random, at: string): string {
  return random.pick([
    '',
    '/',
    'metadata',
    `${at}/`,
    `${at}/-`,
    `${at}/0`,
    `${at}/-1`,
    `${at}/-9`,
    `${at}/99`,
    `${at}/+0`,
    `${at}/00`,
    `${at}/1e0`,
    `${at}/none/deeper`,
    `${at}x`,
    `${at}~`,
    `${at}~2`,
    at.replace(/\/[^/]*$/, '/-'),
    at.replace(/\/[^/]*$/, '/0'),
    at.replace(/\/[^/]*$/, '/1'),
    '/metadata/labels/a~1b',
    '/metadata/annotations/a~0b',
    '/metadata/annotations/__proto__',
    '/metadata',
    '/spec',
    '/kind',
    '/apiVersion',
    '/metadata/name',
    '/metadata/namespace',
    '/metadata/uid',
    '/metadata/resourceVersion',
    '/metadata/generation',
    '/metadata/creationTimestamp',
    '/metadata/managedFields',
    '/metadata/managedFields/0',
    '/metadata/managedFields/0/manager',
    '/metadata/finalizers',
    '/status',
  ])
}

function valueAt(object: Json, pointer: string): Json | undefined {
  let found: Json | undefined = object
  for (const part of pointer.split('/').slice(1)) {
    if (found === null || typeof found !== 'object') return undefined
    found = (found as Body)[part.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return found
}

export function randomJsonPatch(random: Random, live: Body): Json {
  const known: string[] = []
  pointers(live, '', known)
  if (random.chance(0.03)) return random.pick(oddValues)
  const operations: Json[] = []
  for (let i = 1 + random.below(3); i > 0; i--) operations.push(operation(random, live, known))
  if (random.chance(0.03)) operations.push(random.pick(oddValues))
  return operations
}

function operation(random: Random, live: Body, known: readonly string[]): Json {
  const at = random.pick(known)
  const path = random.chance(0.6) ? at : oddPointer(random, at)
  const other = random.pick(known)
  const from = random.chance(0.8) ? other : oddPointer(random, other)
  const same = valueAt(live, at) ?? null
  const value = random.chance(0.5) ? same : random.pick(oddValues)
  const op = random.pick<Json>([
    'add',
    'add',
    'remove',
    'replace',
    'replace',
    'move',
    'copy',
    'test',
    'test',
  ])
  const made: Body = { op, path }
  if (op === 'move' || op === 'copy') made.from = from
  else if (op === 'test') made.value = random.chance(0.7) ? (valueAt(live, path) ?? null) : value
  else if (op !== 'remove') made.value = value
  if (random.chance(0.05)) {
    const name = random.pick(['op', 'path', 'from', 'value'])
    if (random.chance(0.5)) delete made[name]
    else made[name] = random.pick<Json>([1, null, 'frob', {}, ['a'], 'Add'])
  }
  return made
}

/** A member somewhere in the object, changed, emptied or of another shape. */
export function randomMergePatch(random: Random, live: Body): Json {
  const body: Body = {}
  for (let i = 1 + random.below(2); i > 0; i--) {
    const known: string[] = []
    pointers(withoutItems(live), '', known)
    const at = random.pick(known)
    const path = random.chance(0.85) ? at : oddPointer(random, at)
    const before = valueAt(live, at) ?? null
    const roll = random.below(4)
    const value = roll === 0 ? null : roll === 1 ? before : random.pick(oddValues)
    lay(body, path, roll === 3 && isBody(before) ? { ...before, added: value } : value)
  }
  return body
}

/** Merge patches know no items. */
function withoutItems(value: Json): Json {
  if (!isBody(value)) return Array.isArray(value) ? [] : value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'managedFields')
      .map(([name, item]) => [name, withoutItems(item)]),
  )
}

/** What is laid is a copy: the next one may be laid into it. */
function lay(body: Body, path: string, value: Json): void {
  const parts = path.split('/').slice(1)
  const last = parts.pop()
  if (last === undefined) return
  let holder = body
  for (const part of parts) {
    const next = holder[part]
    if (isBody(next)) holder = next
    else {
      const made: Body = {}
      holder[part] = made
      holder = made
    }
  }
  holder[last] = structuredClone(value)
}

/** Random strategic patches of one object, by its type. */
export class StrategicPatches {
  readonly #random: Random
  readonly #declared: DeclaredValues
  #damage = 0

  constructor(random: Random, declared: DeclaredValues) {
    this.#random = random
    this.#declared = declared
  }

  next(type: Struct, live: Body): Json {
    const random = this.#random
    if (random.chance(0.02)) return random.pick(oddValues)
    this.#damage = random.chance(0.5) ? 1 : 0
    const { managedFields: _, ...metadata } = live.metadata as Body
    return this.#struct(type, { ...live, metadata }, 0)
  }

  /** Whether the one thing that is wrong with this patch is to be here. */
  #wrong(probability: number): boolean {
    if (this.#damage === 0 || !this.#random.chance(probability)) return false
    this.#damage = 0
    return true
  }

  #struct(type: Struct, live: Body, depth: number): Body {
    const random = this.#random
    const out: Body = {}
    const all = [...type.byName.values()].filter(
      ({ name }) => depth > 0 || !['apiVersion', 'kind', 'status'].includes(name),
    )
    const there = all.filter(({ name }) => live[name] !== undefined)
    for (let i = 1 + random.below(2); i > 0 && all.length > 0; i--) {
      const field = there.length > 0 && random.chance(0.8) ? random.pick(there) : random.pick(all)
      this.#member(out, field, live[field.name], depth)
    }
    // Which of the two is done first is chance.
    for (const name of Object.keys(out)) delete out[`$deleteFromPrimitiveList/${name}`]
    if (random.chance(0.06)) out.$retainKeys = this.#retained(out, live)
    if (random.chance(0.03)) out.$patch = random.pick(['replace', 'delete'])
    if (this.#wrong(0.1)) {
      const name = random.pick([
        '$patch',
        '$retainKeys',
        '$setElementOrder/x',
        '$deleteFromPrimitiveList/x',
        'none',
        '$setElementOrder',
        '$deleteFromPrimitiveList',
        '$setElementOrders/x',
      ])
      out[name] = random.pick(oddValues)
    }
    return out
  }

  #retained(out: Body, live: Body): Json {
    const own = Object.keys(out).filter((name) => !name.startsWith('$'))
    if (this.#wrong(0.3)) return this.#random.pick<Json>(['x', [1], [], [null], own.slice(1), {}])
    return [...own, ...Object.keys(live).filter(() => this.#random.chance(0.7))]
  }

  #member(out: Body, { name, type }: Field, live: Json | undefined, depth: number): void {
    const random = this.#random
    if (this.#wrong(0.15)) {
      out[name] = random.pick(oddValues)
      return
    }
    if (random.chance(0.08)) {
      out[name] = null
      return
    }
    if (type.is === 'list') {
      this.#list(out, name, type, Array.isArray(live) ? live : [], depth)
      return
    }
    if (type.is === 'struct' && type.union !== true && depth < 7) {
      out[name] = this.#struct(type, isBody(live) ? live : {}, depth + 1)
      return
    }
    if (type.is === 'map' && isBody(live)) {
      out[name] = this.#map(type.values, live)
      return
    }
    out[name] = randomValue(type, name, random, this.#declared)
  }

  #map(values: Type, live: Body): Body {
    const random = this.#random
    const out: Body = {}
    const names = [...Object.keys(live), 'a', 'b', 'a.b/c']
    for (let i = random.below(3); i > 0; i--) {
      const name = random.pick(names)
      out[name] = random.chance(0.3) ? null : randomValue(values, name, random, this.#declared)
    }
    if (random.chance(0.05)) out.$patch = random.pick(['replace', 'delete'])
    if (this.#wrong(0.2)) out.$patch = random.pick<Json>(['merge', 'frob', 1, null, {}])
    return out
  }

  #list(out: Body, name: string, type: Type & { is: 'list' }, live: Json[], depth: number): void {
    const random = this.#random
    const key = type.patchMergeKey
    if (type.items.is !== 'struct' || key === undefined) {
      const made = randomValue(type, name, random, this.#declared)
      out[name] = made
      if (!random.chance(0.2)) return
      const marker = random.pick(['$setElementOrder', '$deleteFromPrimitiveList'])
      const items = random.chance(0.5) ? live : (made as Json[])
      // Which of the two is first is chance.
      if (marker === '$deleteFromPrimitiveList') delete out[name]
      out[`${marker}/${name}`] = this.#wrong(0.2) ? random.pick(oddValues) : items
      return
    }
    const items = [...this.#items(type.items, key, live.filter(isBody), depth)]
    out[name] = items
    if (!random.chance(0.3)) return
    const kept = items.filter((item) => isBody(item) && item.$patch === undefined)
    const order: Json[] = [...kept, ...live.filter(() => random.chance(0.6))]
      .filter((item) => isBody(item) && item[key] !== undefined)
      .map((item) => ({ [key]: (item as Body)[key] as Json }))
    if (this.#wrong(0.4)) order.push(random.pick(oddValues))
    if (this.#wrong(0.2)) order.reverse()
    out[`$setElementOrder/${name}`] = this.#wrong(0.1) ? random.pick(oddValues) : order
    if (random.chance(0.2)) delete out[name]
  }

  *#items(type: Struct, key: string, live: Body[], depth: number): Generator<Json> {
    const random = this.#random
    for (let i = random.below(3); i >= 0; i--) {
      const old = live.length > 0 && random.chance(0.7) ? random.pick(live) : undefined
      const item: Body =
        random.chance(0.2) || depth > 6 ? {} : this.#struct(type, old ?? {}, depth + 1)
      const field = type.byName.get(key)
      const made = field === undefined ? 'a' : randomValue(field.type, key, random, this.#declared)
      item[key] = old?.[key] ?? made
      if (random.chance(0.15)) item.$patch = random.pick(['delete', 'replace', 'delete'])
      if (this.#wrong(0.1)) delete item[key]
      if (this.#wrong(0.1)) item[key] = random.pick<Json>([1, null, {}, ['x'], 1.5])
      if (this.#wrong(0.1)) item.$patch = random.pick<Json>(['merge', 'frob', 1, null, {}])
      yield this.#wrong(0.05) ? random.pick(oddValues) : item
      if (this.#wrong(0.1)) yield structuredClone(item)
    }
    if (random.chance(0.1)) yield { $patch: 'replace' }
  }
}
