/**
 * Converts any JSON value to the canonical form of a type: the JSON that Go would write after
 * decoding it. Fields are in declaration order and map keys are sorted. Unknown fields are dropped
 * and reported. Zero values are dropped or filled in. Times, quantities, durations and bytes are
 * normalised. A value of the wrong JSON type is rejected.
 *
 * Each type is compiled on first use. The result may share parts of the input: values without a
 * declared shape (`any`) are reused, all other values are copied.
 *
 *   { data: { b: null, a: 'x' }, bogus: 1, kind: 'ConfigMap', metadata: {} }
 *     → { kind: 'ConfigMap', metadata: { creationTimestamp: null }, data: { a: 'x', b: '' } },
 *       unknown: ['bogus']
 */
import type { Json } from '#api/object-meta.ts'
import { badRequest } from '#api/status-error.ts'
import { rememberEmpty } from '#api/written-empty.ts'
import { rememberText } from '#api/written-text.ts'
import { scalarRule } from './conform-scalar.ts'
import { Misfit, isObject, type JsonObject } from './misfit.ts'
import type { Dict, Field, List, Struct, Type } from './type.ts'
import { compareKeys, setKey } from './user-key.ts'

export interface Conformed {
  value: Json
  /** Paths of dropped fields: `spec.containers[0].imagee`. */
  unknown: string[]
}

/** The kind and version in the body and the type that decoded it, for error messages. */
export interface ReadAs {
  readonly kind: string
  readonly version: string
  readonly as: string
}

/**
 * A dropped field, or the dropped fields below a path segment. Paths are joined once at the end, so
 * the cost does not grow with depth.
 */
type Unknown = string | { readonly segment: string; readonly below: Unknown[] }

/** The state of one conversion: the unknown fields so far, relative to the current value. */
interface Walk {
  readonly unknown: Unknown[]
}

/** The converter of one type, and its zero value. */
interface Rule {
  read(raw: Json, walk: Walk): Json
  /** Go's zero value as JSON. Returns a new value for each call. */
  zero(): Json
  /** Whether the scalar is a struct in Go, such as a time. Go's omitempty never omits structs. */
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
      return scalarRule(type)
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
    const value = raw === null ? rule.zero() : rule.read(raw, walk)
    return { value, unknown: pathsOf(walk.unknown) }
  } catch (error) {
    if (!(error instanceof Misfit)) throw error
    if (readAs === undefined) throw badRequest(error.message)
    const { kind, version, as } = readAs
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${as}: ${error.message}`,
    )
  }
}

/** Prepends a path segment to every unknown field that was reported since `from`. */
function prefixUnknown(walk: Walk, from: number, segment: string): void {
  walk.unknown.push({ segment, below: walk.unknown.splice(from) })
}

function pathsOf(unknown: readonly Unknown[], above?: string, paths: string[] = []): string[] {
  for (const one of unknown) {
    if (typeof one === 'string') paths.push(joined(above, one))
    else pathsOf(one.below, joined(above, one.segment), paths)
  }
  return paths
}

const joined = (above: string | undefined, segment: string): string =>
  above === undefined ? segment : above + (segment.startsWith('[') ? '' : '.') + segment

/**
 * What to do with a zero value. It is kept or dropped, or an empty list or map is dropped or
 * replaced with null.
 */
type Zero = 'keep' | 'drop' | 'drop empty' | 'null empty'

/** One field, prepared for the loop below. */
interface Slot {
  readonly name: string
  readonly type: Type
  readonly pointer: boolean
  readonly zero: Zero
  /** Fast path: most values are strings, and a string needs only a type check. */
  readonly string: boolean
  readonly respelled: boolean
  rule: Rule | undefined
}

/** Messages show the text of these values as written, whatever their canonical text is. */
const isRespelled = (type: Type): boolean =>
  type.is === 'scalar' && (type.scalar === 'quantity' || type.scalar === 'time')

function rememberSpelling(holder: JsonObject, name: string, raw: Json, value: Json): void {
  // A null has no source text to remember.
  const text = raw === null ? '' : String(raw).trim()
  if (text !== value && value !== null) rememberText(holder, name, text)
}

/**
 * omitempty never omits a struct, nor a scalar that is a struct in Go, such as a time. omitzero
 * does.
 */
const isAlways = ({ pointer, type, omitZero }: Field) =>
  omitZero !== true &&
  !pointer &&
  (type.is === 'struct' || (type.is === 'scalar' && ruleOf(type).always))

/** Fields that are written even if absent: null for a pointer, the zero value otherwise. */
const isFilled = (field: Field) => isAlways(field) || !field.omitEmpty

function slotOf(name: string, field: Field): Slot {
  const { type, pointer, omitEmpty } = field
  const collection = type.is === 'list' || type.is === 'map'
  // Once stored, an empty list or map is nil.
  let zero: Zero = 'keep'
  if (!pointer && collection) zero = omitEmpty ? 'drop empty' : 'null empty'
  else if (!pointer && omitEmpty && !isAlways(field)) zero = 'drop'
  const string = type.is === 'scalar' && type.scalar === 'string'
  return { name, type, pointer, zero, string, respelled: isRespelled(type), rule: undefined }
}

const ruleOfSlot = (slot: Slot): Rule => (slot.rule ??= ruleOf(slot.type))

function isEmptyCollection(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0
  for (const _ in value as object) return false
  return true
}

/**
 * The fields of a struct in order, their indexes by name, and the fields that are written even if
 * absent.
 */
interface Plan {
  readonly slots: readonly Slot[]
  readonly indexes: ReadonlyMap<string, number>
  readonly filled: readonly number[]
}

function planOf(struct: Struct): Plan {
  const fields = [...struct.byName]
  const filled = fields.flatMap(([, field], i) => (isFilled(field) ? [i] : []))
  return {
    slots: fields.map(([name, field]) => slotOf(name, field)),
    indexes: new Map(fields.map(([name], i) => [name, i])),
    filled,
  }
}

const empty: JsonObject = {}

function structRule(struct: Struct): Rule {
  let plan: Plan | undefined
  const read = (raw: Json, walk: Walk): Json => {
    if (!isObject(raw)) throw new Misfit('an object', raw)
    plan ??= planOf(struct)
    const { slots, indexes, filled } = plan
    const present: number[] = []
    let extra: string[] | undefined
    for (const key in raw) {
      const index = indexes.get(key)
      if (index === undefined) {
        if (struct.open) (extra ??= []).push(key)
        else walk.unknown.push(key)
      } else if (raw[key] !== null) {
        // Insertion sort is the fastest: there are few fields, and nearly in order.
        let at = present.length
        present.push(index)
        for (; at > 0 && present[at - 1] > index; at--) present[at] = present[at - 1]
        present[at] = index
      }
    }
    const out: JsonObject = {}
    let fill = 0
    for (const index of present) {
      for (; fill < filled.length && filled[fill] <= index; fill++) {
        if (filled[fill] < index) putZero(out, slots[filled[fill]])
      }
      putField(out, slots[index], raw[slots[index].name], walk)
    }
    for (; fill < filled.length; fill++) putZero(out, slots[filled[fill]])
    if (extra !== undefined) for (const key of extra) setKey(out, key, raw[key])
    return out
  }
  return { read, zero: () => read(empty, { unknown: [] }), always: true }
}

function putZero(out: JsonObject, slot: Slot): void {
  const value = slot.pointer ? null : ruleOfSlot(slot).zero()
  out[slot.name] = value
  if (slot.respelled) rememberSpelling(out, slot.name, null, value)
}

function putField(out: JsonObject, slot: Slot, raw: Json, walk: Walk): void {
  const value = slot.string && typeof raw === 'string' ? raw : readField(slot, raw, walk)
  switch (slot.zero) {
    case 'keep':
      out[slot.name] = value
      if (slot.respelled && value !== raw) rememberSpelling(out, slot.name, raw, value)
      return
    case 'drop':
      if (value !== '' && value !== 0 && value !== false && value !== null) out[slot.name] = value
      return
    default:
      if (!isEmptyCollection(value)) out[slot.name] = value
      else {
        if (slot.zero === 'null empty') out[slot.name] = null
        if (value !== null) rememberEmpty(out, slot.name)
      }
  }
}

function readField(slot: Slot, raw: Json, walk: Walk): Json {
  const before = walk.unknown.length
  try {
    const value = ruleOfSlot(slot).read(raw, walk)
    if (walk.unknown.length !== before) prefixUnknown(walk, before, slot.name)
    return value
  } catch (error) {
    if (error instanceof Misfit) error.at(slot.name)
    throw error
  }
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
  const isBytes = dict.values.is === 'scalar' && dict.values.scalar === 'bytes'
  const respelled = isRespelled(dict.values)
  const readValue = (key: string, raw: Json, walk: Walk): Json => {
    rule ??= ruleOf(dict.values)
    // A null in a map of bytes becomes an empty string, because Go reads it back from the store so.
    if (raw === null) return isBytes ? '' : rule.zero()
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
    for (const [key, value] of entries) {
      setKey(out, key, value)
      if (respelled && value !== raw[key]) rememberSpelling(out, key, raw[key], value)
    }
    return out
  }
  return { read, zero: () => null, always: false }
}

/**
 * A union type, such as IntOrString or JSONSchemaPropsOrBool: JSON has one of the members directly.
 * The JSON type of the value selects the member. If no member is a boolean, Go's decoder ignores a
 * value that fits no member, and the result is null.
 */
function unionRule(struct: Struct): Rule {
  const members = { bool: memberOf('scalar'), list: memberOf('list'), object: memberOf('struct') }
  function memberOf(is: Type['is']): Field | undefined {
    return struct.fields.find((field) => field.type.is === is)
  }
  const read = (raw: Json, walk: Walk): Json => {
    const shape = Array.isArray(raw) ? 'list' : typeof raw === 'boolean' ? 'bool' : 'object'
    const member = members[shape]
    if (member === undefined || (shape === 'object' && !isObject(raw))) {
      if (members.bool !== undefined) throw new Misfit('a boolean or a schema', raw)
      return null
    }
    const value = ruleOf(member.type).read(raw, walk)
    return Array.isArray(value) && value.length === 0 ? null : value
  }
  return { read, zero: () => null, always: true }
}
