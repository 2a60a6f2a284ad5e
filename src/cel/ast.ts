/**
 * The syntax tree of a CEL expression, after the parser has expanded its macros.
 * Every node has an id that is unique within its expression: positions, types and references are
 * kept beside the tree, by id. The checker makes a new tree; nothing changes a node.
 *
 * `self.items.all(i, i > 0)` becomes a comprehension over `self.items` with the variable `i` and
 * the accumulator `@result`, which begins as `true` and becomes `@result && i > 0` in each step.
 */
import type { CelType } from './cel-type.ts'

export type Expr = Literal | Ident | Select | Call | ListExpr | MapExpr | StructExpr | Comprehension

/** Integers are bigint here: a literal can be any of 64 bits. */
export type Literal = { readonly kind: 'literal'; readonly id: number } & (
  | { readonly type: 'int' | 'uint'; readonly value: bigint }
  | { readonly type: 'double'; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'bytes'; readonly value: Uint8Array }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'null'; readonly value: null }
)

export interface Ident {
  readonly kind: 'ident'
  readonly id: number
  /**
   * A leading dot means the root container: `.x`. After the check, a qualified name such as `a.b`.
   */
  readonly name: string
}

export interface Select {
  readonly kind: 'select'
  readonly id: number
  readonly operand: Expr
  readonly field: string
  /** True for `has(operand.field)`. */
  readonly testOnly: boolean
}

export interface Call {
  readonly kind: 'call'
  readonly id: number
  /** Operators are functions: `a + b` is a call of `_+_`. */
  readonly name: string
  /** The receiver of `target.name(args)`. */
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
}

export interface ListExpr {
  readonly kind: 'list'
  readonly id: number
  readonly elements: readonly Expr[]
  /** Indices of elements written `?e`. */
  readonly optionalIndices: readonly number[]
}

export interface MapExpr {
  readonly kind: 'map'
  readonly id: number
  readonly entries: readonly MapEntry[]
}

export interface MapEntry {
  readonly id: number
  readonly key: Expr
  readonly value: Expr
  /** True for `{?key: value}`. */
  readonly optional: boolean
}

/** `pkg.Type{field: value}` */
export interface StructExpr {
  readonly kind: 'struct'
  readonly id: number
  readonly typeName: string
  readonly fields: readonly StructField[]
}

export interface StructField {
  readonly id: number
  readonly name: string
  readonly value: Expr
  readonly optional: boolean
}

/**
 * accu = accuInit; for each element of iterRange { if (!loopCondition) break; accu = loopStep };
 * result. With one variable, iterVar is an element of a list or a key of a map. With two, iterVar
 * is the index or the key, iterVar2 is the element or the value.
 */
export interface Comprehension {
  readonly kind: 'comprehension'
  readonly id: number
  readonly iterRange: Expr
  readonly iterVar: string
  /** Undefined unless the macro has two variables. */
  readonly iterVar2: string | undefined
  readonly accuVar: string
  readonly accuInit: Expr
  readonly loopCondition: Expr
  readonly loopStep: Expr
  readonly result: Expr
}

/** The accumulator of macros. `@` cannot begin an identifier of an expression. */
export const accumulatorName = '@result'

export interface ParsedExpr {
  readonly root: Expr
  /** Offset of each node in code points, by id. */
  readonly positions: ReadonlyMap<number, number>
}

/**
 * What the checker found a name to be: a variable or constant, or the overloads of a function that
 * can apply.
 */
export type Reference =
  | { readonly kind: 'ident'; readonly name: string; readonly value?: Literal }
  | { readonly kind: 'function'; readonly overloadIds: readonly string[] }

export interface CheckedExpr extends ParsedExpr {
  readonly types: ReadonlyMap<number, CelType>
  readonly references: ReadonlyMap<number, Reference>
}
