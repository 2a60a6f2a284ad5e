/**
 * What a call can cost at most, before it runs. Kubernetes has rules for the functions of its
 * libraries, and cel-go for its lists and sets. Standard operators are in estimate.ts, because
 * their sizes depend on other expressions.
 *
 * Kubernetes rejects definitions by these numbers, so that a different estimate rejects different
 * definitions.
 */
import type { Expr } from '#cel/ast.ts'
import { type CelType, isSameType } from '#cel/cel-type.ts'
import {
  authorizerType,
  decisionType,
  groupCheckType,
  pathCheckType,
  resourceCheckType,
} from '#cel/declarations/authorizer.ts'
import {
  cidrType,
  formatType,
  ipType,
  quantityType,
  semverType,
  urlType,
} from '#cel/declarations/kubernetes.ts'
import {
  add,
  fixed,
  multiply,
  one,
  type Range,
  scale,
  toUint64,
  unknownRange,
  unlimited,
  wrapped,
  zero,
} from './range.ts'

/** An operand of a call. */
export interface Operand {
  readonly type: CelType
  /**
   * Where the value is, from a variable on: `self`, `items`, `@items`. Empty if that is not known.
   */
  readonly path: readonly string[]
  /** The size, as far as the expression shows it. */
  readonly size: Range | undefined
  /** Absent for the elements of a list that has no expression for them. */
  readonly expr?: Expr
}

export interface CallEstimate {
  /** Without the cost of the operands. */
  readonly cost: Range
  /** The size of the result, if it is a string, bytes, a list or a map. */
  readonly size?: Range
}

/** The size of a value that the data decides; undefined if its type has no limit. */
export type SizeOf = (operand: Pick<Operand, 'path' | 'type'>) => Range | undefined

/** What the estimates of a release know. */
export interface EstimateRules {
  /** The size of a list or map that a macro makes. */
  readonly knowsResults: boolean
  /** The sizes of the elements of lists and maps that the expression makes. */
  readonly knowsElements: boolean
  /** Values of Kubernetes' types compare at once, whatever their size. */
  readonly comparesAtOnce: boolean
}

export interface CallShape {
  readonly name: string
  readonly overloadId: string
  readonly target: Operand | undefined
  readonly args: readonly Operand[]
  readonly sizeOf: SizeOf
  readonly rules: EstimateRules
}

type Rule = (call: CallShape) => CallEstimate | undefined

const traversalFactor = 0.1
const regexFactor = 0.25
const listCost = fixed(10)
/** An address has 4 or 16 bytes. */
const addressSize: Range = { min: 4, max: 16 }
/** The longest regular expression of a named format, and the longest name of one. */
const formatRegexSizeMax = 128
const formatNameSizeMax = 64

const costs = (cost: Range, size?: Range): CallEstimate =>
  size === undefined ? { cost } : { cost, size }

const sizeIn = (sizeOf: SizeOf, operand: Operand): Range =>
  operand.size ?? sizeOf(operand) ?? unknownRange

const traverse = (size: Range): Range => scale(size, traversalFactor)

const always =
  (cost: Range): Rule =>
  () =>
    costs(cost)

/** Reads the first argument once, or twice. */
const readsFirst =
  (factor: number, keepsSize = false): Rule =>
  ({ args: [first], sizeOf }) => {
    if (first === undefined) return undefined
    const size = sizeIn(sizeOf, first)
    return costs(scale(size, factor), keepsSize ? size : undefined)
  }

const readsTarget: Rule = ({ target, sizeOf }) => {
  if (target === undefined) return undefined
  const size = sizeIn(sizeOf, target)
  return costs(traverse(size), size)
}

/** A selector is a list of requirements, each of at least two characters. */
const parsesSelector: Rule = ({ args, sizeOf }) => {
  const [selector] = args
  if (selector === undefined || args.length !== 1) return undefined
  const length = sizeIn(sizeOf, selector)
  const requirements = scale(scale(length, 0.5), 50)
  return costs(add(add(listCost, traverse(length)), requirements))
}

/** The elements of a list; undefined if the operand is not a list. */
function elementOf({ type, path }: Operand): Operand | undefined {
  const element = type.parameters[0]
  if (element === undefined) return undefined
  return { type: element, path: path.length === 0 ? [] : [...path, '@items'], size: undefined }
}

const searchesList: Rule = ({ name, target, sizeOf }) => {
  if (target === undefined) return undefined
  const size = sizeIn(sizeOf, target)
  const element = elementOf(target)
  if (element === undefined)
    return costs(name === 'includes' ? multiply(size, one) : traverse(size))
  const { kind } = element.type
  const compares = kind === 'string' || kind === 'bytes'
  const each = compares ? add(one, traverse(sizeIn(sizeOf, element))) : one
  return costs(multiply(size, each))
}

const parts = (size: number, part: number): number =>
  part === 0 ? unlimited : Math.min(unlimited, Math.ceil(size / part))

/** The longest and the shortest text that replacing can make. */
const replaces: Rule = ({ target, args: [found, replacement], sizeOf }) => {
  if (target === undefined || found === undefined || replacement === undefined) return undefined
  const size = sizeIn(sizeOf, target)
  const old = sizeIn(sizeOf, found)
  const fresh = sizeIn(sizeOf, replacement)
  let most = 0
  let keptMost = 0
  if (old.min === 0) {
    // An empty text is found around each character.
    most = Math.min(unlimited, size.max + 1)
    keptMost = size.max
  } else if (fresh.max <= old.min) keptMost = size.max
  else most = parts(size.max, old.min)
  let least = 0
  let keptLeast = 0
  if (old.max === 0) {
    least = Math.min(unlimited, size.min + 1)
    keptLeast = size.min
  } else if (old.max <= fresh.min) keptLeast = size.min
  else least = parts(size.min, old.max)
  const made = multiply({ min: least, max: most }, fresh)
  return costs(scale(size, 2 * traversalFactor), add(made, { min: keptLeast, max: keptMost }))
}

const intOf = (operand: Operand | undefined): bigint | undefined =>
  operand?.expr?.kind === 'literal' && operand.expr.type === 'int' ? operand.expr.value : undefined

const splits: Rule = ({ target, args, sizeOf }) => {
  if (target === undefined) return undefined
  const size = sizeIn(sizeOf, target)
  const limit = intOf(args[1])
  const max = limit === undefined ? size.max : wrapped(limit)
  return costs(scale(size, 2 * traversalFactor), { min: 0, max })
}

const joins: Rule = ({ target, args: [separator], sizeOf }) => {
  if (target === undefined) return undefined
  const count = sizeIn(sizeOf, target)
  const element = elementOf(target)
  let size = element === undefined ? zero : multiply(count, sizeIn(sizeOf, element))
  if (separator !== undefined) {
    const gaps = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) }
    size = add(size, multiply(sizeIn(sizeOf, separator), gaps))
  }
  return costs(traverse(size), size)
}

/** A regular expression has about one state for each four characters. */
export const regexEstimate = (text: Range, pattern: Range): Range =>
  multiply(traverse(add(text, one)), scale(pattern, regexFactor))

const findsPattern: Rule = ({ target, args: [pattern], sizeOf }) => {
  if (target === undefined || pattern === undefined) return undefined
  const size = sizeIn(sizeOf, target)
  return costs(regexEstimate(size, sizeIn(sizeOf, pattern)), { min: 0, max: size.max })
}

const containsAddress =
  (block: boolean): Rule =>
  ({ overloadId, args: [other], sizeOf }) => {
    if (other === undefined) return undefined
    let cost = traverse(add(addressSize, addressSize))
    if (block) cost = add(cost, add(traverse(addressSize), one))
    if (overloadId === 'cidr_contains_ip_string' || overloadId === 'cidr_contains_cidr_string')
      cost = add(cost, traverse(sizeIn(sizeOf, other)))
    return costs(cost)
  }

const validates: Rule = ({ args: [text], sizeOf }) =>
  text === undefined
    ? undefined
    : costs(scale(traverse(sizeIn(sizeOf, text)), formatRegexSizeMax * regexFactor))

const cheapEquality: readonly CelType[] = [
  ...[ipType, cidrType, quantityType, semverType],
  ...[authorizerType, pathCheckType, groupCheckType, resourceCheckType, decisionType],
]

const equates: Rule = ({ args: [left, right], rules }) => {
  if (!rules.comparesAtOnce) return undefined
  if (left === undefined || right === undefined || !isSameType(left.type, right.type))
    return undefined
  const { name } = left.type
  if (cheapEquality.some((type) => type.name === name)) return costs(one)
  if (name === formatType.name) return costs(traverse({ min: 1, max: formatNameSizeMax }))
  if (name === urlType.name) return costs(traverse({ min: 1, max: right.size?.max ?? 1 }))
  return undefined
}

const rows = (rule: Rule, ...names: string[]): [string, Rule][] => names.map((name) => [name, rule])

const rulesByFunction: ReadonlyMap<string, Rule> = new Map([
  ...rows(always(fixed(350_000)), 'check'),
  ...rows(
    always(one),
    ...['serviceAccount', 'path', 'group', 'resource', 'subresource', 'namespace', 'name'],
    ...['allowed', 'reason', 'error', 'errored', 'format.named'],
    ...['masked', 'prefixLength', 'family', 'isUnspecified', 'isLoopback'],
    ...['isLinkLocalMulticast', 'isLinkLocalUnicast', 'isGlobalUnicast'],
    ...['sign', 'asInteger', 'isInteger', 'asApproximateFloat', 'isGreaterThan', 'isLessThan'],
    ...['compareTo', 'add', 'sub', 'major', 'minor', 'patch'],
    ...['getScheme', 'getHostname', 'getHost', 'getPort', 'getEscapedPath', 'getQuery'],
  ),
  ...rows(parsesSelector, 'fieldSelector', 'labelSelector'),
  ...rows(searchesList, 'isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf', 'includes'),
  ...rows(readsFirst(traversalFactor, true), 'url', 'jsonpatch.escapeKey'),
  ...rows(readsTarget, 'lowerAscii', 'upperAscii', 'substring', 'trim'),
  ...rows(replaces, 'replace'),
  ...rows(splits, 'split'),
  ...rows(joins, 'join'),
  ...rows(findsPattern, 'find', 'findAll'),
  ...rows(
    readsFirst(traversalFactor),
    ...['cidr', 'isIP', 'isCIDR', 'ip', 'quantity', 'isQuantity', 'semver', 'isSemver'],
  ),
  ...rows(readsFirst(2 * traversalFactor), 'ip.isCanonical'),
  ...rows(containsAddress(false), 'containsIP'),
  ...rows(containsAddress(true), 'containsCIDR'),
  ...rows(validates, 'validate'),
  ...rows(equates, '_==_'),
])

const compareSets =
  (factor: number): Rule =>
  ({ args: [left, right], sizeOf }) => {
    if (left === undefined || right === undefined) return undefined
    const pairs = multiply(sizeIn(sizeOf, left), sizeIn(sizeOf, right))
    return costs(add(scale(pairs, factor), one))
  }

/** A call that makes a list of this size. */
const makesList = (size: Range, factor: number): CallEstimate =>
  costs(add(add(scale(size, factor), one), listCost), size)

/** An argument that is a literal, not below 0. */
const uintOf = (operand: Operand | undefined, otherwise: bigint): bigint => {
  const value = intOf(operand)
  if (value === undefined) return otherwise
  return value < 0n ? 0n : value
}

const slices: Rule = ({ target, args: [start, end], sizeOf }) => {
  if (target === undefined) return undefined
  const { max } = sizeIn(sizeOf, target)
  const length = uintOf(end, toUint64(max)) - uintOf(start, 0n)
  return makesList(fixed(wrapped(length)), 1)
}

const makesRange: Rule = ({ args: [count] }) =>
  makesList(fixed(Number(uintOf(count, toUint64(unlimited)))), 1)

const reverses: Rule = ({ target, sizeOf }) =>
  target === undefined ? undefined : makesList(sizeIn(sizeOf, target), 1)

const flattens: Rule = ({ target, args: [depth], sizeOf }) => {
  if (target === undefined) return undefined
  const factor = depth === undefined ? 1 : Number(uintOf(depth, toUint64(unlimited)))
  return makesList(sizeIn(sizeOf, target), factor)
}

/** Compares each element with each other one, twice. */
const comparesAll = (operand: Operand | undefined, factor: number, sizeOf: SizeOf) => {
  if (operand === undefined) return undefined
  const size = sizeIn(sizeOf, operand)
  return makesList(multiply(size, size), factor)
}

const sortable: readonly (readonly [string, number])[] = [
  ...['int', 'uint', 'double', 'bool'].map((name) => [name, 2] as const),
  ...['google.protobuf.Duration', 'google.protobuf.Timestamp'].map((name) => [name, 2] as const),
  ...['string', 'bytes'].map((name) => [name, 2 + traversalFactor] as const),
]

const rulesByOverload: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...rows(always(one), 'cidr_ip'),
  ...rows(compareSets(1), 'list_sets_contains_list', 'list_sets_intersects_list'),
  ...rows(compareSets(2), 'list_sets_equivalent_list'),
  ...rows(slices, 'list_slice'),
  ...rows(makesRange, 'lists_range'),
  ...rows(reverses, 'list_reverse'),
  ...rows(flattens, 'list_flatten', 'list_flatten_int'),
  ...rows(({ target, sizeOf }) => comparesAll(target, 2, sizeOf), 'list_distinct'),
  ...sortable.flatMap(([type, factor]): [string, Rule][] => [
    [`list_${type}_sort`, ({ target, sizeOf }) => comparesAll(target, factor, sizeOf)],
    [
      `list_${type}_sortByAssociatedKeys`,
      ({ args: [keys], sizeOf }) => comparesAll(keys, factor, sizeOf),
    ],
  ]),
])

/** Undefined if the call has no rule of a library. */
export const estimateCall: Rule = (call) =>
  rulesByOverload.get(call.overloadId)?.(call) ?? rulesByFunction.get(call.name)?.(call)
