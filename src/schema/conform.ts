/**
 * From any JSON value to the canonical form of a type: what Go would write after reading it. Fields in declaration
 * order, map keys sorted, unknown fields dropped and reported, zero values dropped or filled in, times, quantities,
 * durations and bytes in their one spelling. A value of the wrong JSON type is refused.
 *
 * Compiled once per type, on first use. The input is given up to the result: values of no declared shape (`any`) are
 * taken over as they are, everything else is made anew.
 *
 *   { data: { b: null, a: 'x' }, bogus: 1, kind: 'ConfigMap', metadata: {} }
 *     → { kind: 'ConfigMap', metadata: { creationTimestamp: null }, data: { a: 'x', b: '' } }, unknown: ['bogus']
 */
import type { Json } from '#api/object-meta.ts'
import { badRequest } from '#api/status-error.ts'
import { scalarRule } from './conform-scalar.ts'
import { Misfit, isObject, type JsonObject } from './misfit.ts'
import type { Dict, Field, List, Struct, Type } from './type.ts'
import { compareKeys, setKey } from './user-key.ts'

export interface Conformed {
  value: Json
  /** Paths of dropped fields: `spec.containers[0].imagee`. */
  unknown: string[]
}

/** What the body called itself and what it was read as, for the words of a refusal. */
export interface ReadAs {
  readonly kind: string
  readonly version: string
  readonly as: string
}

/** The state of one conform: paths found so far, relative to the frame at work. */
interface Walk {
  readonly unknown: string[]
}

/** How one type is read, and what stands for nothing. */
interface Rule {
  read(raw: Json, walk: Walk): Json
  /** Go's zero value as JSON; a fresh one each time. */
  zero(): Json
  /** Whether Go's omitempty never applies: structs and what Go keeps in structs. */
  readonly always: boolean
}

const rules = new WeakMap<Type, Rule>()

function ruleOf(type: Type): Rule {
  let rule = rules.get(type)
  if (rule === undefined) {
    rule = compile(type)
    rules.set(type, rule)
  }
  return rule
}

function compile(type: Type): Rule {
  switch (type.is) {
    case 'scalar':
      return scalarRule(type.scalar)
    case 'list':
      return listRule(type)
    case 'map':
      return dictRule(type)
    case 'struct':
      return type.union === true ? unionRule(type) : structRule(type)
    case 'untyped':
      return { read: (raw) => raw, zero: () => null, always: false }
  }
}

export function conform(type: Type, raw: Json, readAs?: ReadAs): Conformed {
  const walk: Walk = { unknown: [] }
  try {
    const rule = ruleOf(type)
    return { value: raw === null ? rule.zero() : rule.read(raw, walk), unknown: walk.unknown }
  } catch (error) {
    if (!(error instanceof Misfit)) throw error
    if (readAs === undefined) throw badRequest(error.message)
    const { kind, version, as } = readAs
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${as}: ${error.message}`,
    )
  }
}

/** Lays the segment of the frame above before every path reported since `from`. */
function prefixUnknown(walk: Walk, from: number, segment: string): void {
  for (let i = from; i < walk.unknown.length; i++) {
    const path = walk.unknown[i]
    walk.unknown[i] = path.startsWith('[') ? segment + path : `${segment}.${path}`
  }
}

/** One field as the loop below wants it. */
interface Slot {
  readonly name: string
  readonly field: Field
  /** Kept whatever it is: pointers that are set, structs, and everything without omitempty. */
  readonly keep: boolean
  /** Absent ones are filled in with the zero value (null for a pointer). */
  readonly fill: boolean
  rule: Rule | undefined
}

function slotOf(name: string, field: Field): Slot {
  const always = !field.pointer && (field.type.is === 'struct' || ruleOf(field.type).always)
  const keep = field.pointer || always || !field.omitEmpty
  return { name, field, keep, fill: always || !field.omitEmpty, rule: undefined }
}

const isEmpty = (value: Json): boolean =>
  value === '' ||
  value === 0 ||
  value === false ||
  value === null ||
  (typeof value === 'object' && isEmptyCollection(value))

function isEmptyCollection(value: Json[] | JsonObject): boolean {
  if (Array.isArray(value)) return value.length === 0
  for (const _ in value) return false
  return true
}

function structRule(struct: Struct): Rule {
  let slots: Slot[] | undefined
  let indexes: Map<string, number>
  const prepare = (): Slot[] => {
    slots = [...struct.byName].map(([name, field]) => slotOf(name, field))
    indexes = new Map(slots.map((slot, i) => [slot.name, i]))
    return slots
  }

  const read = (raw: Json, walk: Walk): Json => {
    if (!isObject(raw)) throw new Misfit('an object', raw)
    const plan = slots ?? prepare()
    const values: (Json | undefined)[] = new Array(plan.length).fill(undefined)
    let extra: string[] | undefined
    for (const key in raw) {
      const index = indexes.get(key)
      if (index !== undefined) values[index] = raw[key]
      else if (struct.open) (extra ??= []).push(key)
      else walk.unknown.push(key)
    }
    const out: JsonObject = {}
    for (let i = 0; i < plan.length; i++) {
      const value = values[i]
      const slot = plan[i]
      if (value === undefined || value === null) {
        if (slot.fill) out[slot.name] = slot.field.pointer ? null : ruleOfSlot(slot).zero()
      } else putField(out, slot, value, walk)
    }
    if (extra !== undefined) for (const key of extra) setKey(out, key, raw[key])
    return out
  }
  return { read, zero: () => read({}, { unknown: [] }), always: true }
}

const ruleOfSlot = (slot: Slot): Rule => (slot.rule ??= ruleOf(slot.field.type))

function putField(out: JsonObject, slot: Slot, raw: Json, walk: Walk): void {
  const before = walk.unknown.length
  let value: Json
  try {
    value = ruleOfSlot(slot).read(raw, walk)
  } catch (error) {
    if (error instanceof Misfit) error.at(slot.name)
    throw error
  }
  if (walk.unknown.length !== before) prefixUnknown(walk, before, slot.name)
  if (slot.field.pointer) out[slot.name] = value
  else if (typeof value === 'object' && value !== null && slot.field.type.is !== 'struct') {
    // An empty list or map is a nil one once it has been stored.
    if (!isEmptyCollection(value) || slot.field.type.is === 'scalar') out[slot.name] = value
    else if (slot.keep) out[slot.name] = null
  } else if (slot.keep || !isEmpty(value)) out[slot.name] = value
}

function listRule(list: List): Rule {
  const items = list.items
  let rule: Rule | undefined
  const read = (raw: Json, walk: Walk): Json => {
    if (!Array.isArray(raw)) throw new Misfit('a list', raw)
    rule ??= ruleOf(items)
    const out: Json[] = new Array(raw.length)
    for (let i = 0; i < raw.length; i++) {
      const before = walk.unknown.length
      const item = raw[i]
      try {
        out[i] = item === null ? rule.zero() : rule.read(item, walk)
      } catch (error) {
        if (error instanceof Misfit) error.at(`[${i}]`)
        throw error
      }
      if (walk.unknown.length !== before) prefixUnknown(walk, before, `[${i}]`)
    }
    return out
  }
  return { read, zero: () => null, always: false }
}

function dictRule(dict: Dict): Rule {
  let rule: Rule | undefined
  const readValue = (key: string, raw: Json, walk: Walk): Json => {
    rule ??= ruleOf(dict.values)
    if (raw === null) return rule.zero()
    const before = walk.unknown.length
    try {
      const value = rule.read(raw, walk)
      if (walk.unknown.length !== before) prefixUnknown(walk, before, key)
      return value
    } catch (error) {
      if (error instanceof Misfit) error.at(key)
      throw error
    }
  }
  const read = (raw: Json, walk: Walk): Json => {
    if (!isObject(raw)) throw new Misfit('an object', raw)
    let previous = ''
    let sorted = true
    let changed = false
    const values: Json[] = []
    for (const key in raw) {
      const value = readValue(key, raw[key], walk)
      if (value !== raw[key]) changed = true
      if (sorted && previous > key) sorted = false
      previous = key
      values.push(value)
    }
    if (sorted && !changed) return { ...raw }
    const keys = Object.keys(raw)
    const entries = keys.map((key, i): [string, Json] => [key, values[i]])
    if (!sorted) entries.sort((a, b) => compareKeys(a[0], b[0]))
    const out: JsonObject = {}
    for (const [key, value] of entries) setKey(out, key, value)
    return out
  }
  return { read, zero: () => null, always: false }
}

/** A type that JSON writes as one of its members: the member is found by the JSON type of the value. */
function unionRule(struct: Struct): Rule {
  const members = { bool: memberOf('scalar'), list: memberOf('list'), object: memberOf('struct') }
  function memberOf(is: Type['is']): Field | undefined {
    return struct.fields.find((field) => field.type.is === is)
  }
  const read = (raw: Json, walk: Walk): Json => {
    const shape = Array.isArray(raw) ? 'list' : typeof raw === 'boolean' ? 'bool' : 'object'
    const member = members[shape]
    if (member === undefined || (shape === 'object' && !isObject(raw))) {
      throw new Misfit(
        members.bool === undefined ? 'a schema or a list' : 'a boolean or a schema',
        raw,
      )
    }
    const value = ruleOf(member.type).read(raw, walk)
    return Array.isArray(value) && value.length === 0 ? null : value
  }
  return { read, zero: () => null, always: true }
}
