/**
 * Macros: calls that the parser replaces by other expressions, such as `has(a.b)` and `list.all(x,
 * x > 0)`.
 */
import { accumulatorName, type Expr } from '#cel/ast.ts'
import type { MacroFactory } from './expr-factory.ts'

/** Reports an error at an argument of a macro. */
export class MacroError {
  readonly at: Expr
  readonly message: string
  constructor(at: Expr, message: string) {
    this.at = at
    this.message = message
  }
}

/** Undefined: the call is no call of the macro. */
type Expand = (make: MacroFactory, args: readonly Expr[], target: Expr) => Expr | undefined

export interface Macro {
  readonly name: string
  readonly argumentCount: number
  /** True for `target.name(args)`. */
  readonly isMember: boolean
  readonly expand: Expand
}

const member = (name: string, argumentCount: number, expand: Expand): Macro => ({
  name,
  argumentCount,
  isMember: true,
  expand,
})

/** The accumulator of cel-go before it had a name that no expression can write. */
const olderAccumulatorName = '__result__'

/** For a macro that only binds a variable, such as optMap. */
const unusedVariable = '#unused'

function nameOf(arg: Expr, message: string): string {
  if (arg.kind !== 'ident') throw new MacroError(arg, message)
  return arg.name
}

function rejectAccumulator(arg: Expr, name: string): void {
  if (name === accumulatorName || name === olderAccumulatorName)
    throw new MacroError(arg, 'iteration variable overwrites accumulator variable')
}

function oneVariable(arg: Expr, message: string): readonly [string] {
  const name = nameOf(arg, message)
  rejectAccumulator(arg, name)
  return [name]
}

function twoVariables(first: Expr, second: Expr): readonly [string, string] {
  const one = nameOf(first, 'argument must be a simple name')
  const two = nameOf(second, 'argument must be a simple name')
  if (one === two) throw new MacroError(second, `duplicate variable name: ${one}`)
  rejectAccumulator(first, one)
  rejectAccumulator(second, two)
  return [one, two]
}

type Variables = readonly [string, string?]

function all(make: MacroFactory, target: Expr, variables: Variables, predicate: Expr): Expr {
  const init = make.bool(true)
  const condition = make.call('@not_strictly_false', make.accumulator())
  const step = make.call('_&&_', make.accumulator(), predicate)
  const result = make.accumulator()
  return make.comprehension(target, variables, accumulatorName, init, condition, step, result)
}

function exists(make: MacroFactory, target: Expr, variables: Variables, predicate: Expr): Expr {
  const init = make.bool(false)
  const condition = make.call('@not_strictly_false', make.call('!_', make.accumulator()))
  const step = make.call('_||_', make.accumulator(), predicate)
  const result = make.accumulator()
  return make.comprehension(target, variables, accumulatorName, init, condition, step, result)
}

function existsOne(make: MacroFactory, target: Expr, variables: Variables, predicate: Expr): Expr {
  const init = make.int(0n)
  const condition = make.bool(true)
  const more = make.call('_+_', make.accumulator(), make.int(1n))
  const step = make.call('_?_:_', predicate, more, make.accumulator())
  const result = make.call('_==_', make.accumulator(), make.int(1n))
  return make.comprehension(target, variables, accumulatorName, init, condition, step, result)
}

/** Collects results of `step` for the elements that pass `filter`. */
function collect(
  make: MacroFactory,
  target: Expr,
  variables: Variables,
  init: Expr,
  filter: Expr | undefined,
  makeStep: () => Expr,
): Expr {
  const condition = make.bool(true)
  let step = makeStep()
  if (filter !== undefined) step = make.call('_?_:_', filter, step, make.accumulator())
  const result = make.accumulator()
  return make.comprehension(target, variables, accumulatorName, init, condition, step, result)
}

const append = (make: MacroFactory, element: Expr) => () =>
  make.call('_+_', make.accumulator(), make.list(element))

function map(make: MacroFactory, args: readonly Expr[], target: Expr): Expr {
  const variables = oneVariable(args[0]!, 'argument is not an identifier')
  const filter = args.length === 3 ? args[1] : undefined
  return collect(make, target, variables, make.list(), filter, append(make, args.at(-1)!))
}

function filter(make: MacroFactory, args: readonly Expr[], target: Expr): Expr {
  const variables = oneVariable(args[0]!, 'argument is not an identifier')
  return collect(make, target, variables, make.list(), args[1], append(make, args[0]!))
}

function has(make: MacroFactory, args: readonly Expr[]): Expr {
  const [arg] = args as readonly [Expr]
  if (arg.kind !== 'select') throw new MacroError(arg, 'invalid argument to has() macro')
  return make.presenceTest(arg.operand, arg.field)
}

type Quantifier = typeof all

const quantifier =
  (make: Quantifier): Expand =>
  (factory, [variable, predicate], target) =>
    make(factory, target, oneVariable(variable!, 'argument must be a simple name'), predicate!)

const quantifierOfTwo =
  (make: Quantifier): Expand =>
  (factory, [first, second, predicate], target) =>
    make(factory, target, twoVariables(first!, second!), predicate!)

export const standardMacros: readonly Macro[] = [
  { name: 'has', argumentCount: 1, isMember: false, expand: has },
  member('all', 2, quantifier(all)),
  member('exists', 2, quantifier(exists)),
  member('exists_one', 2, quantifier(existsOne)),
  member('map', 2, map),
  member('map', 3, map),
  member('filter', 2, filter),
]

const transformList: Expand = (make, args, target) => {
  const variables = twoVariables(args[0]!, args[1]!)
  const condition = args.length === 4 ? args[2] : undefined
  const step = append(make, args.at(-1)!)
  return collect(make, target, variables, make.list(), condition, step)
}

const transformMap: Expand = (make, args, target) => {
  const variables = twoVariables(args[0]!, args[1]!)
  const condition = args.length === 4 ? args[2] : undefined
  return collect(make, target, variables, make.emptyMap(), condition, () =>
    make.call('cel.@mapInsert', make.accumulator(), make.ident(variables[0]), args.at(-1)!),
  )
}

const transformMapEntry: Expand = (make, args, target) => {
  const variables = twoVariables(args[0]!, args[1]!)
  const condition = args.length === 4 ? args[2] : undefined
  return collect(make, target, variables, make.emptyMap(), condition, () =>
    make.call('cel.@mapInsert', make.accumulator(), args.at(-1)!),
  )
}

/** Macros with an index or key and a value: `{'a': 1}.all(key, value, value > 0)`. */
export const twoVariableMacros: readonly Macro[] = [
  member('all', 3, quantifierOfTwo(all)),
  member('exists', 3, quantifierOfTwo(exists)),
  member('existsOne', 3, quantifierOfTwo(existsOne)),
  member('exists_one', 3, quantifierOfTwo(existsOne)),
  member('transformList', 3, transformList),
  member('transformList', 4, transformList),
  member('transformMap', 3, transformMap),
  member('transformMap', 4, transformMap),
  member('transformMapEntry', 3, transformMapEntry),
  member('transformMapEntry', 4, transformMapEntry),
]

/** Evaluates `body` with a variable that has one value: a comprehension that never loops. */
function bind(make: MacroFactory, name: string, value: Expr, body: (make: MacroFactory) => Expr) {
  const range = make.list()
  const never = make.bool(false)
  return make.comprehension(
    range,
    [unusedVariable],
    name,
    value,
    never,
    make.ident(name),
    body(make),
  )
}

const bindOf: Expand = (make, [variable, value, body], target) => {
  if (target.kind !== 'ident' || target.name !== 'cel') return undefined
  const name = nameOf(variable!, 'cel.bind() variable names must be simple identifiers')
  return bind(make, name, value!, () => body!)
}

/** `cel.bind(x, device.attributes["a"], x.b && x.c)` */
export const bindMacros: readonly Macro[] = [member('bind', 3, bindOf)]

const optionalMap =
  (name: string, wrap: (make: MacroFactory, expr: Expr) => Expr): Expand =>
  (make, [variable, body], target) => {
    const message = `${name}() variable name must be a simple identifier`
    const bound = nameOf(variable!, message)
    const hasValue = make.memberCall('hasValue', target)
    const value = make.memberCall('value', make.copy(target))
    const mapped = wrap(
      make,
      bind(make, bound, value, () => body!),
    )
    return make.call('_?_:_', hasValue, mapped, make.call('optional.none'))
  }

export const optionalMacros: readonly Macro[] = [
  member(
    'optMap',
    2,
    optionalMap('optMap', (make, expr) => make.call('optional.of', expr)),
  ),
  member(
    'optFlatMap',
    2,
    optionalMap('optFlatMap', (_make, expr) => expr),
  ),
]

const sortInput = '@__sortBy_input__'

const sortBy: Expand = (make, args, target) => {
  if (target.kind === 'literal' || target.kind === 'map' || target.kind === 'struct')
    throw new MacroError(
      target,
      'sortBy can only be applied to a list, identifier, comprehension, call or select expression',
    )
  const keys = map(make, args, make.ident(sortInput))
  return bind(make, sortInput, target, () =>
    make.memberCall('@sortByAssociatedKeys', make.ident(sortInput), keys),
  )
}

export const sortMacros: readonly Macro[] = [member('sortBy', 2, sortBy)]
