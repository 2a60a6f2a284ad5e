/**
 * Checks of literals after the check of types. They find durations, timestamps, regular expressions
 * and formats that can never work, and lists and maps whose elements have several types. Kubernetes
 * reports them as errors of the compiler.
 */
import type { Call, CheckedExpr, Expr, ListExpr, MapExpr } from '#cel/ast.ts'
import { childrenOf } from '#cel/children.ts'
import { type CelType, formatType, isSameType } from '#cel/cel-type.ts'
import { toDuration, toTimestamp } from '#cel/convert.ts'
import { literalValue } from '#cel/literal-value.ts'
import { compileRegex } from '#cel/regex.ts'
import type { CelError } from '#cel/source.ts'
import { CelError as ErrorValue, type Value } from '#cel/values.ts'
import { checkFormatCall } from './check-format.ts'

const patternOf = (value: Value): unknown =>
  typeof value === 'string' ? compileRegex(value) : undefined

/** Functions whose first argument, if it is a literal, must be one that they accept. */
const checks: readonly (readonly [name: string, convert: (value: Value) => unknown])[] = [
  ['duration', toDuration],
  ['timestamp', toTimestamp],
  ['matches', patternOf],
]

class LiteralChecker {
  readonly errors: CelError[] = []
  readonly #checked: CheckedExpr
  readonly #calls: Call[] = []
  readonly #collections: (ListExpr | MapExpr)[] = []

  constructor(checked: CheckedExpr) {
    this.#checked = checked
    this.#collect(checked.root, false)
  }

  checkCalls(): void {
    for (const [name, convert] of checks)
      for (const call of this.#calls) if (call.name === name) this.#checkArgument(call, convert)
    for (const call of this.#calls)
      if (call.name === 'format') this.errors.push(...checkFormatCall(call, this.#checked))
  }

  checkElements(): void {
    for (const expr of this.#collections) if (expr.kind === 'list') this.#checkList(expr)
    for (const expr of this.#collections) if (expr.kind === 'map') this.#checkMap(expr)
  }

  /** Collections inside the arguments of `format` may have several types. */
  #collect(expr: Expr, isFormatted: boolean): void {
    if (expr.kind === 'call') this.#calls.push(expr)
    if ((expr.kind === 'list' || expr.kind === 'map') && !isFormatted) this.#collections.push(expr)
    const inFormat = isFormatted || (expr.kind === 'call' && expr.name === 'format')
    for (const child of childrenOf(expr)) this.#collect(child, inFormat)
  }

  #report({ id }: Expr, message: string): void {
    this.errors.push({ position: this.#checked.positions.get(id) ?? -1, message })
  }

  #checkArgument(call: Call, convert: (value: Value) => unknown): void {
    const [argument] = call.args
    if (argument?.kind !== 'literal') return
    if (convert(literalValue(argument)) instanceof ErrorValue)
      this.#report(argument, `invalid ${call.name} argument`)
  }

  #typeOf({ id }: Expr, isOptional: boolean): CelType | undefined {
    const type = this.#checked.types.get(id)
    return isOptional ? type?.parameters[0] : type
  }

  #hasType(expected: CelType | undefined, found: CelType | undefined, at: Expr): boolean {
    if (expected === undefined || found === undefined || isSameType(expected, found)) return true
    this.#report(at, `expected type '${formatType(expected)}' but found '${formatType(found)}'`)
    return false
  }

  #checkList({ elements, optionalIndices }: ListExpr): void {
    let expected: CelType | undefined
    for (const [index, element] of elements.entries()) {
      const type = this.#typeOf(element, optionalIndices.includes(index))
      expected ??= type
      if (!this.#hasType(expected, type, element)) return
    }
  }

  #checkMap({ entries }: MapExpr): void {
    const [first] = entries
    if (first === undefined) return
    const keys = this.#typeOf(first.key, false)
    const values = this.#typeOf(first.value, first.optional)
    for (const { key, value, optional } of entries.slice(1)) {
      this.#hasType(keys, this.#typeOf(key, false), key)
      this.#hasType(values, this.#typeOf(value, optional), value)
    }
  }
}

/** `withCalls`: also literals that are arguments of calls. */
export function checkLiterals(checked: CheckedExpr, withCalls: boolean): readonly CelError[] {
  const checker = new LiteralChecker(checked)
  checker.checkElements()
  if (withCalls) checker.checkCalls()
  return checker.errors
}
