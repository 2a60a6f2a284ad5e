/** Makes nodes of the syntax tree with fresh ids and remembers their positions. */
import type { Expr, Literal, MapEntry } from '#cel/ast.ts'
import { accumulatorName } from '#cel/ast.ts'

/** The value and the type of a literal. */
export type LiteralValue = Literal extends infer One
  ? One extends Literal
    ? Omit<One, 'kind' | 'id'>
    : never
  : never

/**
 * Most nodes of an expression. Macros that copy an operand double it: `a.optMap(…).optMap(…)` of
 * forty calls would not end.
 */
const nodesMax = 500_000

export class ExprFactory {
  readonly positions = new Map<number, number>()
  #next = 1

  id(position: number): number {
    const id = this.#next++
    if (id > nodesMax) throw new RangeError('an expression has too many nodes')
    this.positions.set(id, position)
    return id
  }

  /** Forgets a node that a macro replaced. */
  release(id: number): void {
    this.positions.delete(id)
    if (id === this.#next - 1) this.#next--
  }

  literal(id: number, value: LiteralValue): Expr {
    return { kind: 'literal', id, ...value } as Literal
  }

  /** Stands for what could not be parsed; never leaves the parser. */
  invalid(id: number): Expr {
    return this.literal(id, { type: 'null', value: null })
  }
}

/** Makes the nodes of one macro: all have the position of the call. */
export class MacroFactory {
  readonly #factory: ExprFactory
  readonly #position: number

  constructor(factory: ExprFactory, callId: number) {
    this.#factory = factory
    this.#position = factory.positions.get(callId)!
  }

  #id(): number {
    return this.#factory.id(this.#position)
  }

  positionOf(expr: Expr): number {
    return this.#factory.positions.get(expr.id) ?? this.#position
  }

  bool(value: boolean): Expr {
    return this.#factory.literal(this.#id(), { type: 'bool', value })
  }

  int(value: bigint): Expr {
    return this.#factory.literal(this.#id(), { type: 'int', value })
  }

  list(...elements: Expr[]): Expr {
    return { kind: 'list', id: this.#id(), elements, optionalIndices: [] }
  }

  emptyMap(): Expr {
    return { kind: 'map', id: this.#id(), entries: [] }
  }

  ident(name: string): Expr {
    return { kind: 'ident', id: this.#id(), name }
  }

  accumulator(): Expr {
    return this.ident(accumulatorName)
  }

  call(name: string, ...args: Expr[]): Expr {
    return { kind: 'call', id: this.#id(), name, target: undefined, args }
  }

  memberCall(name: string, target: Expr, ...args: Expr[]): Expr {
    return { kind: 'call', id: this.#id(), name, target, args }
  }

  presenceTest(operand: Expr, field: string): Expr {
    return { kind: 'select', id: this.#id(), operand, field, testOnly: true }
  }

  comprehension(
    iterRange: Expr,
    variables: readonly [string, string?],
    accuVar: string,
    accuInit: Expr,
    loopCondition: Expr,
    loopStep: Expr,
    result: Expr,
  ): Expr {
    const [iterVar, iterVar2] = variables
    return {
      kind: 'comprehension',
      id: this.#id(),
      iterRange,
      iterVar,
      iterVar2,
      accuVar,
      accuInit,
      loopCondition,
      loopStep,
      result,
    }
  }

  /** The same expression under other ids, for a macro that uses an argument twice. */
  copy(expr: Expr): Expr {
    const id = this.#factory.id(this.positionOf(expr))
    switch (expr.kind) {
      case 'literal':
      case 'ident':
        return { ...expr, id }
      case 'select':
        return { ...expr, id, operand: this.copy(expr.operand) }
      case 'call': {
        const args = expr.args.map((arg) => this.copy(arg))
        return { ...expr, id, args, target: expr.target && this.copy(expr.target) }
      }
      case 'list':
        return { ...expr, id, elements: expr.elements.map((element) => this.copy(element)) }
      case 'map': {
        const entries = expr.entries.map(
          (entry): MapEntry => ({
            ...entry,
            id: this.#id(),
            key: this.copy(entry.key),
            value: this.copy(entry.value),
          }),
        )
        return { ...expr, id, entries }
      }
      case 'struct': {
        const fields = expr.fields.map((field) => ({
          ...field,
          id: this.#id(),
          value: this.copy(field.value),
        }))
        return { ...expr, id, fields }
      }
      case 'comprehension':
        return {
          ...expr,
          id,
          iterRange: this.copy(expr.iterRange),
          accuInit: this.copy(expr.accuInit),
          loopCondition: this.copy(expr.loopCondition),
          loopStep: this.copy(expr.loopStep),
          result: this.copy(expr.result),
        }
    }
  }
}
