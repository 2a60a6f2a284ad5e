/**
 * Libraries of cel-go that kube-apiserver does not have and that CEL's conformance tests use: math,
 * encoders, cel.bind, cel.block, and extensions of protobuf messages.
 */
import type { CheckedExpr, Comprehension, Expr } from './ast.ts'
import {
  boolType,
  bytesType,
  type CelType,
  declare,
  doubleType,
  dynType,
  type FunctionDeclaration,
  intType,
  listOf,
  overload,
  stringType,
  typeParam,
  uintType,
} from './cel-type.ts'
import { compare } from './equality.ts'
import type { MacroFactory } from './parse/expr-factory.ts'
import { type Macro, MacroError } from './parse/macros.ts'
import type { Implementation } from './plan-call.ts'
import { CelError, type ListValue, Uint, type Value } from './values.ts'

const overflow = new CelError('integer overflow')
const noOverload = new CelError('no such overload')

type Row = readonly [
  name: string,
  id: string,
  params: readonly CelType[],
  result: CelType,
  call: Implementation,
]

const one = new Map<CelType, string>([
  [doubleType, 'double'],
  [intType, 'int'],
  [uintType, 'uint'],
])

const onDoubles = (name: string, result: CelType, call: (value: number) => Value): Row => [
  `math.${name}`,
  `math_${name}_double`,
  [doubleType],
  result,
  (value) => call(value as number),
]

const plain = (value: Value): bigint => (value instanceof Uint ? value.value : (value as bigint))

/** Half goes away from zero. */
const round = (value: number): number =>
  Number.isFinite(value) ? Math.sign(value) * Math.round(Math.abs(value)) : value

const absolute: Implementation = (value) => {
  if (typeof value === 'number') return Math.abs(value)
  if (typeof value !== 'bigint') return value
  return value === -(2n ** 63n) ? overflow : value < 0n ? -value : value
}

const sign: Implementation = (value) => {
  if (typeof value === 'number') return Math.sign(value)
  if (typeof value === 'bigint') return value === 0n ? 0n : value < 0n ? -1n : 1n
  return new Uint(plain(value) === 0n ? 0n : 1n)
}

const bits = (name: string, combine: (a: bigint, b: bigint) => bigint): readonly Row[] => [
  [
    `math.${name}`,
    `math_${name}_int_int`,
    [intType, intType],
    intType,
    (a, b) => BigInt.asIntN(64, combine(a as bigint, b as bigint)),
  ],
  [
    `math.${name}`,
    `math_${name}_uint_uint`,
    [uintType, uintType],
    uintType,
    (a, b) => new Uint(BigInt.asUintN(64, combine(plain(a), plain(b)))),
  ],
]

/** Bits that leave are lost; a negative number has its bits shifted as those of an unsigned one. */
const shifts = (name: string, shift: (bits: bigint, by: bigint) => bigint): readonly Row[] =>
  [intType, uintType].map((type) => [
    `math.${name}`,
    `math_${name}_${one.get(type)}_int`,
    [type, intType],
    type,
    (value, by) => {
      const count = by as bigint
      if (count < 0n) return new CelError(`math.${name}() negative offset: ${count}`)
      const shifted = count > 63n ? 0n : shift(BigInt.asUintN(64, plain(value)), count)
      return type === intType ? BigInt.asIntN(64, shifted) : new Uint(BigInt.asUintN(64, shifted))
    },
  ])

/** The first of the values that the wanted side of the order has. */
function extreme(values: Iterable<Value>, wanted: 1 | -1): Value {
  let best: Value | undefined
  for (const value of values) {
    if (!(typeof value === 'number' || typeof value === 'bigint' || value instanceof Uint))
      return noOverload
    if (best === undefined || compare(value, best) === wanted) best = value
  }
  return best ?? new CelError('math.@min(list) argument must not be empty')
}

function extremes(name: '@min' | '@max'): readonly Row[] {
  const wanted = name === '@min' ? -1 : 1
  const types = [...one.keys()]
  const pair: Implementation = (a, b) => extreme([a, b], wanted)
  const row = (
    id: string,
    params: readonly CelType[],
    result: CelType,
    call: Implementation,
  ): Row => [`math.${name}`, `math_${name}_${id}`, params, result, call]
  return [
    ...types.map((type) => row(`${one.get(type)}`, [type], type, (a) => a)),
    ...types.flatMap((a) =>
      types.map((b) => row(`${one.get(a)}_${one.get(b)}`, [a, b], a === b ? a : dynType, pair)),
    ),
    ...types.map((type) =>
      row(`list_${one.get(type)}`, [listOf(type)], type, (list) =>
        extreme(list as ListValue, wanted),
      ),
    ),
  ]
}

const base64 = (text: string): Value => {
  const bytes = Buffer.from(text, 'base64')
  const encoded = bytes.toString('base64').replace(/=+$/, '')
  return encoded === text.replace(/=+$/, '')
    ? new Uint8Array(bytes)
    : new CelError('illegal base64 data')
}

const rows: readonly Row[] = [
  ...extremes('@min'),
  ...extremes('@max'),
  onDoubles('ceil', doubleType, Math.ceil),
  onDoubles('floor', doubleType, Math.floor),
  onDoubles('round', doubleType, round),
  onDoubles('trunc', doubleType, Math.trunc),
  onDoubles('isInf', boolType, (value) => Math.abs(value) === Number.POSITIVE_INFINITY),
  onDoubles('isNaN', boolType, Number.isNaN),
  onDoubles('isFinite', boolType, Number.isFinite),
  ...[...one].map(([type, id]): Row => ['math.abs', `math_abs_${id}`, [type], type, absolute]),
  ...[...one].map(([type, id]): Row => ['math.sign', `math_sign_${id}`, [type], type, sign]),
  ...bits('bitAnd', (a, b) => a & b),
  ...bits('bitOr', (a, b) => a | b),
  ...bits('bitXor', (a, b) => a ^ b),
  ['math.bitNot', 'math_bitNot_int_int', [intType], intType, (value) => ~(value as bigint)],
  [
    'math.bitNot',
    'math_bitNot_uint_uint',
    [uintType],
    uintType,
    (value) => new Uint(BigInt.asUintN(64, ~plain(value))),
  ],
  ...shifts('bitShiftLeft', (value, by) => value << by),
  ...shifts('bitShiftRight', (value, by) => value >> by),
  [
    'base64.encode',
    'base64_encode_bytes',
    [bytesType],
    stringType,
    (bytes) => Buffer.from(bytes as Uint8Array).toString('base64'),
  ],
  [
    'base64.decode',
    'base64_decode_string',
    [stringType],
    bytesType,
    (text) => base64(text as string),
  ],
]

export const moreFunctions: readonly FunctionDeclaration[] = [
  ...rows.map(([name, id, params, result]) => declare(name, overload(id, params, result))),
  declare(
    'cel.@block',
    overload('cel_block_list', [listOf(dynType), typeParam('T')], typeParam('T')),
  ),
]

export const moreImplementations: ReadonlyMap<string, Implementation> = new Map(
  rows.map(([, id, , , call]) => [id, call]),
)

const member = (name: string, argumentCount: number, expand: Macro['expand']): Macro => ({
  name,
  argumentCount,
  isMember: true,
  expand,
})

const isNumeric = (expr: Expr): boolean =>
  expr.kind === 'literal' ? ['int', 'uint', 'double'].includes(expr.type) : !isCollection(expr)
const isCollection = ({ kind }: Expr): boolean => ['list', 'map', 'struct'].includes(kind)

/** `math.greatest(a, b, c)` → `math.@max([a, b, c])` */
const extremeMacro = (name: string, called: string, count: number): Macro =>
  member(name, count, (make, args) => {
    const [first] = args as [Expr]
    if (count === 1 && first.kind === 'list') {
      if (first.elements.length === 0 || !first.elements.every(isNumeric))
        throw new MacroError(first, `math.${name}() invalid single argument value`)
      return make.call(called, first)
    }
    for (const arg of args)
      if (!isNumeric(arg))
        throw new MacroError(arg, `math.${name}() simple literal arguments must be numeric`)
    return count < 3 ? make.call(called, ...args) : make.call(called, make.list(...args))
  })

const bindOnce = (make: MacroFactory, name: string, value: Expr, body: Expr): Expr =>
  make.comprehension(
    make.list(),
    ['#unused'],
    name,
    value,
    make.bool(false),
    make.ident(name),
    body,
  )

const numberOf = (expr: Expr | undefined): string =>
  expr?.kind === 'literal' ? String(expr.value) : '?'

const qualified = (expr: Expr): string =>
  expr.kind === 'select'
    ? `${qualified(expr.operand)}.${expr.field}`
    : expr.kind === 'ident'
      ? expr.name
      : ''

/** `cel.bind(name, value, body)` */
export const bindMacro = member('bind', 3, (make, [name, value, body]) =>
  bindOnce(make, qualified(name!), value!, body!),
)

export const moreMacros: readonly Macro[] = [
  ...[1, 2, 3, 4, 5, 6].flatMap((count) => [
    extremeMacro('greatest', 'math.@max', count),
    extremeMacro('least', 'math.@min', count),
  ]),
  bindMacro,
  member('block', 2, (make, [values, result]) => make.call('cel.@block', values!, result!)),
  member('index', 1, (make, [at]) => make.ident(`@index${numberOf(at)}`)),
  member('iterVar', 2, (make, [depth, at]) => make.ident(`@it:${numberOf(depth)}:${numberOf(at)}`)),
  member('accuVar', 2, (make, [depth, at]) => make.ident(`@ac:${numberOf(depth)}:${numberOf(at)}`)),
  member('hasExt', 2, (make, [message, field]) => make.presenceTest(message!, qualified(field!))),
  member('getExt', 2, (_make, [message, field]) => ({
    kind: 'select',
    id: field!.id,
    operand: message!,
    field: qualified(field!),
    testOnly: false,
  })),
]

/** Variables of cel.block, of any type. */
export const blockVariables = new Map<string, CelType>(
  Array.from({ length: 30 }, (_, at) => [`@index${at}`, dynType]),
)

/** `cel.@block([a, b], c)` as variables inside each other. */
export function withoutBlocks(checked: CheckedExpr): CheckedExpr {
  const { root } = checked
  if (root.kind !== 'call' || root.name !== 'cel.@block') return checked
  const [values, result] = root.args as [Expr, Expr]
  assertList(values)
  let id = -1
  const nested = values.elements.reduceRight<Expr>((body, value, at) => {
    const name = `@index${at}`
    const node = (): number => id--
    const step: Expr = { kind: 'ident', id: node(), name }
    const bound: Comprehension = {
      kind: 'comprehension',
      id: node(),
      iterRange: { kind: 'list', id: node(), elements: [], optionalIndices: [] },
      iterVar: '#unused',
      iterVar2: undefined,
      accuVar: name,
      accuInit: value,
      loopCondition: { kind: 'literal', id: node(), type: 'bool', value: false },
      loopStep: step,
      result: body,
    }
    return bound
  }, result)
  return { ...checked, root: nested }
}

function assertList(expr: Expr): asserts expr is Extract<Expr, { kind: 'list' }> {
  if (expr.kind !== 'list') throw new Error('cel.block needs a list')
}
