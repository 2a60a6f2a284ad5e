/**
 * The fields that the writer of a new object owns: all that differ from an empty object. One walk,
 * compiled per type, replaces the comparison of compare.ts with zero.ts, because every create needs
 * it. Throws Unfit if two items of a list have the same key.
 */
import { byCodePoint, namesInOrder } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { isMap, type JsonMap } from '#patch/json-map.ts'
import { RecentValuesCache } from '#patch/recent-values-cache.ts'
import type { Field, List, Struct, Type } from '#schema/type.ts'
import { emptySet, type FieldSet, leaf, levelOf, withoutSelf } from './field-set.ts'
import { checkOf, Unfit } from './fitness.ts'
import { compareElements, goJson } from './path-element.ts'
import { fieldType, itemElement, NoElement } from './shape.ts'
import { zeroField } from './zero.ts'

/** The owned fields at and below a value that did not exist before. */
type Claim = (value: Json) => FieldSet
/** The owned fields below a value that was a zero value before; undefined if there are none. */
type ClaimBeyondZero = (value: Json) => FieldSet | undefined
type Building = { [element: string]: FieldSet }

const claims = new WeakMap<Type, Claim>()
const claimsBeyondZero = new WeakMap<Struct, ClaimBeyondZero>()
const wholes = new WeakMap<Struct, ClaimBeyondZero>()

/**
 * The fields that the writer of a new object owns, including metadata fields that are removed
 * later.
 */
export function claimNew(type: Type, object: Json): FieldSet {
  if (type.is === 'struct' && type.union !== true) return wholeOf(type)(object) ?? emptySet
  return withoutSelf(claimOf(type)(object))
}

function wholeOf(struct: Struct): ClaimBeyondZero {
  let claim = wholes.get(struct)
  if (claim === undefined) {
    claim = claimStructBeyondZero(struct, claimPart)
    wholes.set(struct, claim)
  }
  return claim
}

/** Caches the result for parts that recur in many objects; metadata is always different. */
function claimPart(field: Field, name: string): ClaimBeyondZero {
  const claim = claimFieldBeyondZero(field)
  if (field.type.is !== 'struct' || name === 'metadata') return claim
  const met = new RecentValuesCache<FieldSet>()
  return (value) => {
    const known = met.find(value)
    if (known !== undefined) return known
    const claimed = claim(value)
    if (claimed !== undefined) met.keep(value, claimed)
    return claimed
  }
}

function claimOf(type: Type): Claim {
  let claim = claims.get(type)
  if (claim === undefined) {
    claim = compile(type)
    claims.set(type, claim)
  }
  return claim
}

function compile(type: Type): Claim {
  switch (type.is) {
    case 'scalar':
      return () => leaf
    case 'untyped':
      return claimUntyped
    case 'list':
      return type.listType === 'atomic' ? claimWhole(type) : claimList(type)
    case 'map':
      return type.atomic ? claimWhole(type) : claimDict(type.values)
    case 'struct':
      return type.atomic || type.union === true ? claimWhole(type) : claimStruct(type)
  }
}

/** An atomic value is owned as a whole, but its contents must match the type. */
function claimWhole(type: Type): Claim {
  const check = checkOf(type)
  if (check === undefined) return () => leaf
  return (value) => {
    check(value)
    return leaf
  }
}

const claimUntyped = (value: Json): FieldSet =>
  isMap(value) ? claimKeys(value, claimUntyped) : leaf

function claimDict(values: Type): Claim {
  let claim: Claim | undefined
  return (value) => {
    if (value === null) return leaf
    if (!isMap(value)) throw new Unfit()
    claim ??= claimOf(values)
    return claimKeys(value, claim)
  }
}

function claimKeys(map: JsonMap, claim: Claim): FieldSet {
  const names = namesInOrder(map)
  if (names.length === 0) return leaf
  const out: Building = { '.': leaf }
  for (const name of names) out[`f:${name}`] = claim(map[name] as Json)
  return out
}

/** A declared field, with its position in the order of path elements. */
interface Member<C> {
  readonly name: string
  readonly element: string
  readonly place: number
  readonly claim: C
}
type Members<C> = ReadonlyMap<string, Member<C>>

function membersOf<C>(struct: Struct, claimFor: (field: Field, name: string) => C): Members<C> {
  const members = new Map<string, Member<C>>()
  const names = [...struct.byName.keys()].sort(byCodePoint)
  for (const [place, name] of names.entries()) {
    const claim = claimFor(struct.byName.get(name) as Field, name)
    members.set(name, { name, element: `f:${name}`, place, claim })
  }
  return members
}

/**
 * The declared fields of a value in the order of path elements; undefined if it has undeclared
 * fields.
 */
function present<C>(members: Members<C>, value: JsonMap): Member<C>[] | undefined {
  const found: Member<C>[] = []
  for (const name in value) {
    const member = members.get(name)
    if (member === undefined) return undefined
    if (value[name] === undefined) continue
    // Insertion sort is the fastest: there are few fields, and they are nearly sorted.
    let at = found.length
    found.push(member)
    for (; at > 0 && (found[at - 1] as Member<C>).place > member.place; at--) {
      found[at] = found[at - 1] as Member<C>
    }
    found[at] = member
  }
  return found
}

function claimStruct(struct: Struct): Claim {
  let members: Members<Claim> | undefined
  return (value) => {
    if (value === null) return leaf
    if (!isMap(value)) throw new Unfit()
    members ??= membersOf(struct, (field) => claimOf(fieldType(field) as Type))
    const found = present(members, value)
    if (found === undefined) return levelOf(stepsOfOpen(struct, members, value), true)
    if (found.length === 0) return leaf
    const out: Building = { '.': leaf }
    for (const { name, element, claim } of found) out[element] = claim(value[name] as Json)
    return out
  }
}

/** Undeclared fields are owned if the struct is open, and rejected otherwise. */
function stepsOfOpen(
  struct: Struct,
  members: Members<ClaimBeyondZero>,
  value: JsonMap,
): [string, FieldSet][] {
  const steps: [string, FieldSet][] = []
  for (const name in value) {
    const member = members.get(name)
    if (member === undefined && !struct.open) throw new Unfit()
    const claimed = (member?.claim ?? claimUntyped)(value[name] as Json)
    if (claimed !== undefined) steps.push([`f:${name}`, claimed])
  }
  return steps
}

function beyondZeroOf(struct: Struct): ClaimBeyondZero {
  let claim = claimsBeyondZero.get(struct)
  if (claim === undefined) {
    claim = claimStructBeyondZero(struct)
    claimsBeyondZero.set(struct, claim)
  }
  return claim
}

function claimStructBeyondZero(
  struct: Struct,
  claimFor: (field: Field, name: string) => ClaimBeyondZero = claimFieldBeyondZero,
): ClaimBeyondZero {
  let members: Members<ClaimBeyondZero> | undefined
  return (value) => {
    if (value === null) return undefined
    if (!isMap(value)) throw new Unfit()
    members ??= membersOf(struct, claimFor)
    const found = present(members, value)
    if (found === undefined) {
      const steps = stepsOfOpen(struct, members, value)
      return steps.length === 0 ? undefined : levelOf(steps, false)
    }
    let out: Building | undefined
    for (const { name, element, claim } of found) {
      const member = value[name] as Json
      // An empty list is null in canonical form, but it differs from an absent one, so its writer
      // owns it.
      const emptied = member === null && wasWrittenEmpty(value, name)
      const claimed = emptied ? leaf : claim(member)
      if (claimed === undefined) continue
      out ??= {}
      out[element] = claimed
    }
    return out
  }
}

function claimFieldBeyondZero(field: Field): ClaimBeyondZero {
  const zero = zeroField(field)
  const type = fieldType(field) as Type
  const claim = claimOf(type)
  if (zero === undefined) return claim
  if (isMap(zero)) return claimOverZeroStruct(type as Struct, zero)
  if (type.is === 'scalar' || zero !== null)
    return (value) => (value === zero ? undefined : claim(value))
  // A list or map field of a zero struct is null and not new; only its contents are.
  return (value) => (value === null ? undefined : withoutSelf(claim(value)))
}

function claimOverZeroStruct(struct: Struct, zero: JsonMap): ClaimBeyondZero {
  if (!struct.atomic) return beyondZeroOf(struct)
  const claim = claimOf(struct)
  return (value) => {
    const claimed = claim(value)
    return sameAsZero(value, zero) ? undefined : claimed
  }
}

const sameAsZero = (value: Json, zero: JsonMap): boolean =>
  isMap(value) &&
  Object.keys(value).length === Object.keys(zero).length &&
  Object.keys(value).every((name) => {
    const other = zero[name]
    return other === value[name] || (isMap(other) && sameAsZero(value[name] as Json, other))
  })

function claimList(list: List): Claim {
  const claimItem = list.listType === 'set' ? () => leaf : lazily(() => claimOf(list.items))
  const inOrder =
    list.listType === 'map' && list.mapKeys.length === 1 ? byKey(list) : byElement(list)
  return (value) => {
    if (value === null) return leaf
    if (!Array.isArray(value)) throw new Unfit()
    if (value.length === 0) return leaf
    const out: Building = { '.': leaf }
    for (const [element, item] of inOrder(value)) {
      if (Object.hasOwn(out, element)) throw new Unfit()
      out[element] = claimItem(item)
    }
    return out
  }
}

type Keyed = [element: string, item: Json]

/**
 * Most lists have one key field with a text value, which can be compared without parsing path
 * elements.
 */
function byKey(list: List): (items: Json[]) => Keyed[] {
  const key = list.mapKeys[0] as string
  const prefix = `k:{${JSON.stringify(key)}:`
  const general = byElement(list)
  const keyOf = ([, item]: Keyed) => (item as JsonMap)[key] as string
  return (items) => {
    const keyed: Keyed[] = []
    for (const item of items) {
      const own = isMap(item) ? item[key] : undefined
      if (typeof own !== 'string') return general(items)
      keyed.push([`${prefix}${goJson(own)}}`, item])
    }
    return isSorted(keyed, keyOf) ? keyed : keyed.sort((a, b) => byCodePoint(keyOf(a), keyOf(b)))
  }
}

/** Most lists are already sorted, and checking is cheaper than sorting. */
function isSorted(keyed: readonly Keyed[], keyOf: (keyed: Keyed) => string): boolean {
  for (let i = 1; i < keyed.length; i++) {
    if (byCodePoint(keyOf(keyed[i - 1] as Keyed), keyOf(keyed[i] as Keyed)) > 0) return false
  }
  return true
}

function byElement(list: List): (items: Json[]) => Keyed[] {
  return (items) => {
    const keyed = items.map((item): Keyed => [elementOrUnfit(list, item), item])
    return keyed.length > 1 ? keyed.sort(([a], [b]) => compareElements(a, b)) : keyed
  }
}

function elementOrUnfit(list: List, item: Json): string {
  try {
    return itemElement(list, item)
  } catch (error) {
    throw error instanceof NoElement ? new Unfit() : error
  }
}

function lazily(make: () => Claim): Claim {
  let claim: Claim | undefined
  return (value) => {
    claim ??= make()
    return claim(value)
  }
}
