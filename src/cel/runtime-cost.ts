/**
 * The cost of a call at run time: cel-go's rules for its standard functions and Kubernetes' rules
 * for its libraries. Clients see these numbers: an expression that exceeds its budget fails, and
 * the same one must fail here. A cost that does not depend on the result is charged before the
 * call, so that a hostile call does not run at all.
 */
import { elementWork, chargeRead, work } from './work.ts'
import { ListValue, MapValue, OpaqueValue, Optional, type Value } from './values.ts'

const listCreateCost = 10
const structCreateCost = 40
const stringTraversalFactor = 0.1
const regexLengthFactor = 0.25

/** The cost of a call with these arguments. Absent arguments are undefined. */
export type CallCost = (first: Value, second: Value, result: Value) => number

export interface CostRule {
  readonly cost: CallCost
  /** True if the rule reads the result, so that it can be charged only after the call. */
  readonly readsResult?: true
}

/** Code points of a string, which is what cel-go counts. */
export function codePoints(text: string): number {
  let count = text.length
  // A text of one-byte characters is known at once.
  if (!/[\ud800-\udbff]/.test(text)) return count
  chargeRead(2 * count)
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0xd800 || unit > 0xdbff) continue
    const next = text.charCodeAt(index + 1)
    if (next >= 0xdc00 && next <= 0xdfff) {
      count -= 1
      index += 1
    }
  }
  return count
}

/** Bytes of a string in UTF-8. */
function utf8Length(text: string): number {
  chargeRead(text.length)
  return Buffer.byteLength(text)
}

/** The size of a value as costs see it: 1 for everything that has no size. */
function actualSize(value: Value): number {
  if (typeof value === 'string') return codePoints(value)
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof ListValue || value instanceof MapValue) return value.size
  if (value instanceof Uint8Array) return value.length
  if (value instanceof OpaqueValue) return value.size
  if (value instanceof Optional && value.value !== undefined) return actualSize(value.value)
  return 1
}

const traverse = (size: number): number => Math.ceil(size * stringTraversalFactor)

/** The cost of reading a whole value: each scalar costs 1, each string a tenth of its length. */
function traversalCost(value: Value): number {
  if (typeof value === 'string') return Math.floor(utf8Length(value) * stringTraversalFactor)
  if (value instanceof Uint8Array) return Math.floor(value.length * stringTraversalFactor)
  let cost = 0
  if (value instanceof ListValue) {
    work(elementWork * value.size)
    for (const element of value) cost += traversalCost(element)
    return cost
  }
  if (value instanceof MapValue) {
    work(elementWork * value.size)
    for (const key of value.keys())
      cost += traversalCost(key) + traversalCost(value.find(key) as Value)
    return cost
  }
  return 1
}

const fixed = (cost: number): CostRule => ({ cost: () => cost })
const one = fixed(1)

const traverseFirst: CostRule = { cost: (first) => traverse(actualSize(first)) }
const traverseFirstTwice: CostRule = {
  cost: (first) => Math.ceil(actualSize(first) * 2 * stringTraversalFactor),
}
const traverseSecond: CostRule = { cost: (_, second) => traverse(actualSize(second)) }
const traverseBoth: CostRule = {
  cost: (first, second) => traverse(actualSize(first) + actualSize(second)),
}
const traverseShorter: CostRule = {
  cost: (first, second) => traverse(Math.min(actualSize(first), actualSize(second))),
}
const searchElements: CostRule = { cost: (first) => traversalCost(first) }

/** A regular expression has about one state for each four characters. */
const regexCost = (textSize: number, patternSize: number): number =>
  Math.ceil((1 + textSize) * stringTraversalFactor) * Math.ceil(patternSize * regexLengthFactor)

const matchPattern: CostRule = {
  cost: (first, second) => regexCost(actualSize(first), actualSize(second)),
}

/** A selector is a list of requirements, each of at least two characters. */
const parseSelector: CostRule = {
  cost: (_, second) => {
    const length = actualSize(second)
    const requirements = Math.ceil(length * 0.5)
    return listCreateCost + traverse(length) + requirements * (listCreateCost + structCreateCost)
  },
}

const containsAddress = (parsesText: boolean, block: boolean): CostRule => ({
  cost: (first, second) => {
    const size = actualSize(first)
    const compared = traverse(size + size) + (block ? traverse(size) + 1 : 0)
    return compared + (parsesText ? traverse(actualSize(second)) : 0)
  },
})

/** Rules of Kubernetes by the name of the function; they apply to each overload of it. */
const rulesByFunction: ReadonlyMap<string, CostRule> = new Map([
  ...rows(fixed(350_000), 'check'),
  ...rows(
    one,
    ...['serviceAccount', 'path', 'group', 'resource', 'subresource', 'namespace', 'name'],
    ...['allowed', 'reason', 'error', 'errored', 'format.named'],
    ...['masked', 'prefixLength', 'family', 'isUnspecified', 'isLoopback'],
    ...['isLinkLocalMulticast', 'isLinkLocalUnicast', 'isGlobalUnicast'],
    ...['sign', 'asInteger', 'isInteger', 'asApproximateFloat', 'isGreaterThan', 'isLessThan'],
    ...['compareTo', 'add', 'sub', 'major', 'minor', 'patch'],
    ...['getScheme', 'getHostname', 'getHost', 'getPort', 'getEscapedPath', 'getQuery'],
  ),
  ...rows(parseSelector, 'fieldSelector', 'labelSelector'),
  ...rows(
    searchElements,
    ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf', 'includes'],
  ),
  ...rows(
    traverseFirst,
    ...['url', 'lowerAscii', 'upperAscii', 'substring', 'trim', 'jsonpatch.escapeKey'],
    ...['cidr', 'isIP', 'isCIDR', 'ip', 'quantity', 'isQuantity', 'semver', 'isSemver'],
  ),
  ...rows(traverseFirstTwice, 'replace', 'split', 'ip.isCanonical'),
  ...rows(matchPattern, 'find', 'findAll'),
  ...rows(containsAddress(false, false), 'containsIP'),
  ...rows(containsAddress(false, true), 'containsCIDR'),
  ...rows(
    {
      cost: (_first: Value, _second: Value, result: Value) =>
        Math.ceil(actualSize(result) * 2 * stringTraversalFactor),
      readsResult: true,
    },
    'join',
  ),
  ...rows(
    {
      cost: (first: Value, second: Value) => regexCost(actualSize(second), regexSizeOf(first)),
    },
    'validate',
  ),
])

/** What a named format costs as a regular expression; its author knows its size. */
export interface SizedFormat {
  readonly regexSize: number
}

const regexSizeOf = (value: Value): number =>
  typeof value === 'object' && value !== null && 'regexSize' in value
    ? (value as unknown as SizedFormat).regexSize
    : 0

function rows(rule: CostRule, ...names: string[]): [string, CostRule][] {
  return names.map((name) => [name, rule])
}

const orderings = ['less', 'greater', 'less_equals', 'greater_equals']

const sets = (factor: number): CostRule => ({
  cost: (first, second) => 1 + Math.floor(actualSize(first) * actualSize(second) * factor),
})

const allocate = (factor: number, size: number): number =>
  Math.floor(size * (factor < 0 ? 1 : factor)) + 1 + listCreateCost

/** Sorting and removing duplicates compare each element with each other one, twice. */
function selfCompareCost(list: Value): number {
  const size = actualSize(list)
  if (!(list instanceof ListValue) || size === 0) return allocate(2, 0)
  const first = list.at(0)
  const isText = typeof first === 'string' || first instanceof Uint8Array
  return allocate(isText ? 2 + stringTraversalFactor : 2, size * size)
}

/** Most elements that lists.range makes, as cel-go has it. */
export const rangeSizeMax = 1_000_000

/** `lists.range(-1)` is an error, and an error has the size 1. */
const rangeSize = (count: Value): number =>
  typeof count === 'bigint' && count >= 0n && count <= rangeSizeMax ? Number(count) : 1

const comparableTypes = [
  ...['int', 'uint', 'double', 'bool', 'google.protobuf.Duration', 'google.protobuf.Timestamp'],
  ...['string', 'bytes'],
]

/**
 * Rules by the id of the overload. Those of cel-go's set and list libraries come before those by
 * name.
 */
const rulesBySetOrList: ReadonlyMap<string, CostRule> = new Map([
  ...rows(sets(1), 'list_sets_contains_list', 'list_sets_intersects_list'),
  ...rows(sets(2), 'list_sets_equivalent_list'),
  ...rows(
    {
      cost: (_first: Value, _second: Value, result: Value) => allocate(1, actualSize(result)),
      readsResult: true,
    },
    'list_slice',
  ),
  ...rows({ cost: (first: Value) => allocate(1, rangeSize(first)) }, 'lists_range'),
  ...rows({ cost: (first: Value) => allocate(1, actualSize(first)) }, 'list_reverse'),
  ...rows(
    {
      cost: (first: Value, second: Value) =>
        allocate(typeof second === 'bigint' ? Number(second) : 1, actualSize(first)),
    },
    'list_flatten',
    'list_flatten_int',
  ),
  ...rows(
    { cost: (first: Value) => selfCompareCost(first) },
    'list_distinct',
    ...comparableTypes.map((type) => `list_${type}_sort`),
  ),
  ...rows(
    { cost: (_: Value, second: Value) => selfCompareCost(second) },
    ...comparableTypes.map((type) => `list_${type}_sortByAssociatedKeys`),
  ),
])

const rulesByOverload: ReadonlyMap<string, CostRule> = new Map([
  ...rows(one, 'cidr_ip'),
  ...rows(containsAddress(true, false), 'cidr_contains_ip_string'),
  ...rows(containsAddress(false, false), 'cidr_contains_ip_ip'),
  ...rows(containsAddress(true, true), 'cidr_contains_cidr_string'),
  ...rows(containsAddress(false, true), 'cidr_contains_cidr'),
  ...rows(traverseSecond, 'starts_with_string', 'ends_with_string'),
  ...rows(traverseFirst, 'string_to_bytes', 'bytes_to_string', 'strings_quote', 'string_format'),
  ...rows({ cost: (_: Value, second: Value) => actualSize(second) }, 'in_list'),
  ...rows(
    traverseShorter,
    'equals',
    'not_equals',
    ...orderings.flatMap((verb) => [`${verb}_string`, `${verb}_bytes`]),
  ),
  ...rows(traverseBoth, 'add_string', 'add_bytes'),
  ...rows(matchPattern, 'matches', 'matches_string'),
  ...rows(
    {
      cost: (first: Value, second: Value) =>
        traverse(actualSize(first)) * traverse(actualSize(second)),
    },
    'contains_string',
  ),
])

/**
 * The rule for a call. The overload is empty if only the types at run time decide it: then cel-go
 * charges 1 unless Kubernetes has a rule for the function.
 */
export function costRule(name: string, overloadId: string): CostRule {
  return (
    rulesBySetOrList.get(overloadId) ??
    (name === 'ip' || name.startsWith('contains') ? rulesByOverload.get(overloadId) : undefined) ??
    rulesByFunction.get(name) ??
    rulesByOverload.get(overloadId) ??
    one
  )
}

export const constructionCost = {
  list: listCreateCost,
  map: 30,
  struct: structCreateCost,
} as const
