/**
 * What the writer of a new object owns, in one walk compiled from the type: everything that differs from an object
 * nobody has filled in. This is the work of compare.ts against zero.ts, made once per type instead of per object,
 * because every create does it. Throws Unfit where items of a list cannot be told apart.
 */
import { byCodePoint } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { isMap, type JsonMap } from '#patch/json-map.ts'
import type { Field, List, Struct, Type } from '#schema/type.ts'
import { emptySet, type FieldSet, leaf } from './field-set.ts'
import { checkOf, Unfit } from './fitness.ts'
import { compareElements, goJson } from './path-element.ts'
import { isHollow, itemElement, NoElement } from './shape.ts'
import { zeroField } from './zero.ts'

/** What is owned at and below a value that was not there before. */
type Claim = (value: Json) => FieldSet
/** What is owned below a value that had its zero before; undefined: nothing. */
type ClaimBeyondZero = (value: Json) => FieldSet | undefined
type Building = { [element: string]: FieldSet }

const claims = new WeakMap<Type, Claim>()
const claimsBeyondZero = new WeakMap<Struct, ClaimBeyondZero>()

/** The fields owned by the writer of a new object, including those of metadata nobody ever owns. */
export function claimNew(type: Type, object: Json): FieldSet {
  if (type.is === 'struct' && type.union !== true) return beyondZeroOf(type)(object) ?? emptySet
  const { '.': _, ...children } = claimOf(type)(object)
  return children
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

/** Owned whole, but its insides must still be fit to be owned. */
function claimWhole(type: Type): Claim {
  const check = checkOf(type)
  if (check === undefined) return () => leaf
  return (value) => {
    check(value)
    return leaf
  }
}

function claimUntyped(value: Json): FieldSet {
  return isMap(value) && !isHollow(value) ? claimKeys(value, claimUntyped) : leaf
}

function claimDict(values: Type): Claim {
  let claim: Claim | undefined
  return (value) => {
    if (value === null) return leaf
    if (!isMap(value)) throw new Unfit()
    claim ??= claimOf(values)
    return isHollow(value) ? leaf : claimKeys(value, claim)
  }
}

function claimKeys(map: JsonMap, claim: Claim): FieldSet {
  const names = Object.keys(map)
  if (names.length > 1) names.sort(byCodePoint)
  const out: Building = { '.': leaf }
  for (const name of names) out[`f:${name}`] = claim(map[name] as Json)
  return out
}

interface Member {
  readonly name: string
  readonly element: string
  readonly field: Field
  /** A name every object seems to have: only its own one counts. */
  readonly inherited: boolean
}

function membersOf(struct: Struct): Member[] {
  const members: Member[] = []
  for (const [name, field] of struct.byName) {
    members.push({ name, element: `f:${name}`, field, inherited: name in Object.prototype })
  }
  return members.sort((a, b) => byCodePoint(a.name, b.name))
}

const valueOf = (map: JsonMap, { name, inherited }: Member): Json | undefined =>
  inherited && !Object.hasOwn(map, name) ? undefined : map[name]

function claimStruct(struct: Struct): Claim {
  let members: Member[] | undefined
  let memberClaims: Claim[] = []
  return (value) => {
    if (value === null) return leaf
    if (!isMap(value)) throw new Unfit()
    if (members === undefined) {
      members = membersOf(struct)
      memberClaims = members.map(({ field }) => claimOf(field.type))
    }
    const out: Building = { '.': leaf }
    let count = 0
    for (let i = 0; i < members.length; i++) {
      const member = members[i] as Member
      const own = valueOf(value, member)
      if (own === undefined) continue
      out[member.element] = (memberClaims[i] as Claim)(own)
      count++
    }
    if (count < Object.keys(value).length) return withUnknown(struct, value, out)
    return count === 0 ? leaf : out
  }
}

/** Fields the struct does not declare: kept and owned where it is open. */
function withUnknown(struct: Struct, value: JsonMap, declared: Building): Building {
  const names = Object.keys(value).filter((name) => !struct.byName.has(name))
  if (names.length > 0 && !struct.open) throw new Unfit()
  for (const name of names) declared[`f:${name}`] = claimUntyped(value[name] as Json)
  const out: Building = {}
  if (Object.hasOwn(declared, '.')) out['.'] = leaf
  const elements = Object.keys(declared).filter((element) => element !== '.')
  for (const element of elements.sort(compareElements)) out[element] = declared[element] as FieldSet
  return out
}

function beyondZeroOf(struct: Struct): ClaimBeyondZero {
  let claim = claimsBeyondZero.get(struct)
  if (claim === undefined) {
    claim = claimStructBeyondZero(struct)
    claimsBeyondZero.set(struct, claim)
  }
  return claim
}

function claimStructBeyondZero(struct: Struct): ClaimBeyondZero {
  let members: Member[] | undefined
  let memberClaims: ClaimBeyondZero[] = []
  return (value) => {
    if (value === null) return undefined
    if (!isMap(value)) throw new Unfit()
    if (members === undefined) {
      members = membersOf(struct)
      memberClaims = members.map(({ field }) => claimFieldBeyondZero(field))
    }
    let out: Building | undefined
    let count = 0
    for (let i = 0; i < members.length; i++) {
      const member = members[i] as Member
      const own = valueOf(value, member)
      if (own === undefined) continue
      count++
      const claimed = (memberClaims[i] as ClaimBeyondZero)(own)
      if (claimed === undefined) continue
      out ??= {}
      out[member.element] = claimed
    }
    return count < Object.keys(value).length ? withUnknown(struct, value, out ?? {}) : out
  }
}

function claimFieldBeyondZero(field: Field): ClaimBeyondZero {
  const zero = zeroField(field)
  const claim = claimOf(field.type)
  if (zero === undefined) return claim
  if (isMap(zero)) return claimOverZeroStruct(field.type as Struct, zero)
  if (field.type.is === 'scalar' || zero !== null) return (value) => (value === zero ? undefined : claim(value))
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

/** A list or map that was null before is not new, but what is in it is. */
function withoutSelf(claimed: FieldSet): FieldSet {
  if (!Object.hasOwn(claimed, '.')) return claimed
  const { '.': _, ...children } = claimed
  return children
}

function claimList(list: List): Claim {
  const claimItem = list.listType === 'set' ? () => leaf : lazily(() => claimOf(list.items))
  const inOrder = list.listType === 'map' && list.mapKeys.length === 1 ? byKey(list) : byElement(list)
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

/** Most lists have one key and it is a text: they need no element taken apart again to be sorted. */
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
    return keyed.length > 1 ? keyed.sort((a, b) => byCodePoint(keyOf(a), keyOf(b))) : keyed
  }
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

