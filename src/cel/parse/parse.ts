/**
 * Parses a CEL expression: text → tokens → tree of rules → syntax tree with macros expanded.
 * Errors are those of cel-go, in its order.
 */
import type { Expr, MapEntry, ParsedExpr, StructField } from '#cel/ast.ts'
import { type CelError, Source } from '#cel/source.ts'
import { ExprFactory, type LiteralValue, MacroFactory } from './expr-factory.ts'
import { type Macro, MacroError } from './macros.ts'
import { defaultLimits, type Node, type ParseLimits, SyntaxParser } from './syntax-tree.ts'
import { type Token, TokenStream } from './tokens.ts'
import { unescapeBytes, unescapeString } from './unescape.ts'

/** The tokens that begin an operand. */
const operandStart =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', " +
  'NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}'

export interface ParseOptions {
  /** False: `?.` and `[?` are wrong syntax, not unsupported syntax. */
  readonly optionalTokens?: boolean
  /** By `macroKey`. */
  readonly macros: ReadonlyMap<string, Macro>
  /** Whether `a.?b`, `a[?b]`, `[?a]` and `{?a: b}` are allowed. */
  readonly optionalSyntax: boolean
  /** Whether `` a.`b-c` `` is allowed. */
  readonly escapedIdentifiers: boolean
  readonly limits?: ParseLimits
}

const macroKey = (name: string, argumentCount: number, isMember: boolean): string =>
  `${name}:${argumentCount}:${isMember}`

export const macrosByKey = (...lists: (readonly Macro[])[]): ReadonlyMap<string, Macro> =>
  new Map(
    lists.flat().map((macro) => [macroKey(macro.name, macro.argumentCount, macro.isMember), macro]),
  )

/** An expression is at most this many code points long. */
const codePointsMax = 100_000

const reserved = new Set(
  (
    'as break const continue else false for function if import in let loop package namespace ' +
    'null return true var void while'
  ).split(' '),
)

const intMin = -(2n ** 63n)
const intMax = 2n ** 63n - 1n
const uintMax = 2n ** 64n - 1n

class TooDeep {}

const isNode = (part: Token | Node): part is Node => 'rule' in part

class TreeBuilder {
  readonly factory = new ExprFactory()
  readonly #options: ParseOptions
  readonly #report: (error: CelError) => void
  readonly #depthMax: number
  #depth = 0

  constructor(options: ParseOptions, report: (error: CelError) => void, depthMax: number) {
    this.#depthMax = depthMax
    this.#options = options
    this.#report = report
  }

  #error(position: number, message: string): Expr {
    const id = this.factory.id(position)
    this.#report({ position, message })
    return this.factory.invalid(id)
  }

  #token(node: Node, label: string): Token | undefined {
    const part = node.parts.get(label)?.[0]
    return part === undefined || isNode(part) ? undefined : part
  }

  #tokens(node: Node, label: string): Token[] {
    return (node.parts.get(label) ?? []).filter((part): part is Token => !isNode(part))
  }

  #node(node: Node, label: string): Node | undefined {
    return this.#nodes(node, label)[0]
  }

  #nodes(node: Node, label: string): Node[] {
    return (node.parts.get(label) ?? []).filter(isNode)
  }

  /** Nested calls beyond the limit end the parser. */
  #nested(build: () => Expr): Expr {
    if (++this.#depth > this.#depthMax) throw new TooDeep()
    const expr = build()
    this.#depth--
    return expr
  }

  /**
   * `undefined` and rules that failed yield an invalid expression; an error is reported already.
   */
  expr(node: Node | undefined): Expr {
    if (node === undefined) return this.factory.invalid(this.factory.id(-1))
    switch (node.rule) {
      case 'expr':
        return this.#token(node, 'op') === undefined
          ? this.expr(this.#node(node, 'e'))
          : this.#nested(() => this.#conditional(node))
      case 'conditionalOr':
        return this.#logic(node, '_||_')
      case 'conditionalAnd':
        return this.#logic(node, '_&&_')
      case 'relation':
      case 'calc':
        return typeof node.alternative === 'string'
          ? this.#nested(() => this.#binary(node))
          : this.expr(this.#node(node, 'e'))
      case 'unary':
        return this.#unary(node)
      case 'member':
        return typeof node.alternative === 'string'
          ? this.#nested(() => this.#member(node))
          : this.expr(this.#node(node, 'e'))
      case 'primary':
        return this.#primary(node)
      case 'literal':
        return this.#literal(node)
      default:
        return this.expr(this.#node(node, 'e'))
    }
  }

  #conditional(node: Node): Expr {
    const condition = this.expr(this.#node(node, 'e'))
    const id = this.factory.id(this.#token(node, 'op')!.start)
    const yes = this.expr(this.#node(node, 'e1'))
    const no = this.expr(this.#node(node, 'e2'))
    return this.#call(id, '_?_:_', undefined, [condition, yes, no])
  }

  /** Terms of one operator become a balanced tree, so that long chains do not become deep. */
  #logic(node: Node, name: string): Expr {
    const terms = [this.expr(this.#node(node, 'e'))]
    const ids: number[] = []
    const operators = this.#tokens(node, 'op')
    for (const [at, term] of this.#nodes(node, 'e1').entries()) {
      terms.push(this.expr(term))
      ids.push(this.factory.id(operators[at]!.start))
    }
    if (ids.length === 0) return terms[0]!
    const balanced = (low: number, high: number): Expr => {
      const middle = Math.floor((low + high + 1) / 2)
      const left = middle === low ? terms[middle]! : balanced(low, middle - 1)
      const right = middle === high ? terms[middle + 1]! : balanced(middle + 1, high)
      return { kind: 'call', id: ids[middle]!, name, target: undefined, args: [left, right] }
    }
    return balanced(0, ids.length - 1)
  }

  #binary(node: Node): Expr {
    const operator = this.#token(node, 'op')
    if (operator === undefined) return this.expr(undefined)
    const left = this.expr(this.#node(node, 'e'))
    const id = this.factory.id(operator.start)
    // The left operand and the right one have labels of their own.
    const right = this.expr(this.#node(node, 'e1'))
    const name = operator.text === 'in' ? '@in' : `_${operator.text}_`
    return this.#call(id, name, undefined, [left, right])
  }

  #unary(node: Node): Expr {
    const operators = this.#tokens(node, 'op')
    if (operators.length % 2 === 0) return this.expr(this.#node(node, 'e'))
    const id = this.factory.id(operators[0]!.start)
    const operand = this.expr(this.#node(node, 'e'))
    return this.#call(id, operators[0]!.text === '!' ? '!_' : '-_', undefined, [operand])
  }

  #member(node: Node): Expr {
    const operand = this.expr(this.#node(node, 'e'))
    const operator = this.#token(node, 'op')
    if (operator === undefined) return this.expr(undefined)
    if (node.alternative === 'select') return this.#select(node, operand, operator)
    if (node.alternative === 'memberCall') {
      const name = this.#token(node, 'id')
      const open = this.#token(node, 'open')
      if (name === undefined || open === undefined) return this.expr(undefined)
      const id = this.factory.id(open.start)
      return this.#call(id, name.text, operand, this.#args(node))
    }
    const id = this.factory.id(operator.start)
    const index = this.expr(this.#node(node, 'index'))
    if (this.#token(node, 'opt') === undefined)
      return this.#call(id, '_[_]', undefined, [operand, index])
    if (!this.#options.optionalSyntax) return this.#unsupported(node, operator, '[?', operandStart)
    return this.#call(id, '_[?_]', undefined, [operand, index])
  }

  /** `expected`: the tokens that a grammar without optional syntax allows after the operator. */
  #unsupported(node: Node, operator: Token, text: string, expected: string): Expr {
    const optional = this.#token(node, 'opt')
    if (this.#options.optionalTokens !== false || optional === undefined)
      return this.#error(operator.start, `unsupported syntax '${text}'`)
    const found = `Syntax error: extraneous input '?' expecting ${expected}`
    return this.#error(optional.start, found)
  }

  #select(node: Node, operand: Expr, operator: Token): Expr {
    const identifier = this.#node(node, 'id')
    const field = identifier && this.#identifier(identifier, identifier.start.start)
    if (identifier === undefined || field === undefined) return this.expr(undefined)
    if (this.#token(node, 'opt') === undefined) {
      const id = this.factory.id(operator.start)
      return { kind: 'select', id, operand, field, testOnly: false }
    }
    if (!this.#options.optionalSyntax) return this.#unsupported(node, operator, '.?', 'IDENTIFIER')
    const name = this.factory.literal(this.factory.id(identifier.start.start), {
      type: 'string',
      value: field,
    })
    const id = this.factory.id(operator.start)
    return { kind: 'call', id, name: '_?._', target: undefined, args: [operand, name] }
  }

  /** The name of a field; undefined if there is none, empty if it cannot be written so. */
  #identifier(node: Node, position: number): string | undefined {
    const token = this.#token(node, 'id')
    if (token === undefined) return undefined
    if (node.alternative !== 2) return token.text
    if (this.#options.escapedIdentifiers) return token.text.slice(1, -1)
    this.#error(position, "unsupported syntax: '`'")
    return ''
  }

  #args(node: Node): Expr[] {
    const list = this.#node(node, 'args')
    return list === undefined ? [] : this.#nodes(list, 'e').map((arg) => this.expr(arg))
  }

  #primary(node: Node): Expr {
    const id = this.#token(node, 'id')
    const operator = this.#token(node, 'op')
    const dot = this.#token(node, 'leadingDot') === undefined ? '' : '.'
    switch (node.alternative) {
      case 1:
      case 2:
        if (id === undefined) return this.expr(undefined)
        if (reserved.has(id.text))
          return this.#error(node.start.start, `reserved identifier: ${id.text}`)
        if (node.alternative === 1)
          return { kind: 'ident', id: this.factory.id(id.start), name: dot + id.text }
        if (operator === undefined) return this.expr(undefined)
        return this.#call(
          this.factory.id(operator.start),
          dot + id.text,
          undefined,
          this.#args(node),
        )
      case 4:
        return operator === undefined ? this.expr(undefined) : this.#list(node, operator)
      case 5:
        return operator === undefined ? this.expr(undefined) : this.#map(node, operator)
      case 6:
        return operator === undefined ? this.expr(undefined) : this.#struct(node, operator, dot)
      case undefined:
        return this.expr(undefined)
      default:
        return this.expr(this.#node(node, 'e'))
    }
  }

  #list(node: Node, operator: Token): Expr {
    const id = this.factory.id(operator.start)
    const elements: Expr[] = []
    const optionalIndices: number[] = []
    const list = this.#node(node, 'elems')
    for (const element of list === undefined ? [] : this.#nodes(list, 'e')) {
      elements.push(this.expr(this.#node(element, 'e')))
      const optional = this.#token(element, 'opt')
      if (optional === undefined) continue
      if (this.#options.optionalSyntax) optionalIndices.push(elements.length - 1)
      else this.#error(optional.start, "unsupported syntax '?'")
    }
    return { kind: 'list', id, elements, optionalIndices }
  }

  #map(node: Node, operator: Token): Expr {
    const id = this.factory.id(operator.start)
    const entries: MapEntry[] = []
    const list = this.#node(node, 'entries')
    const keys = list === undefined ? [] : this.#nodes(list, 'key')
    const values = list === undefined ? [] : this.#nodes(list, 'value')
    for (const [at, colon] of (list === undefined ? [] : this.#tokens(list, 'col')).entries()) {
      const entryId = this.factory.id(colon.start)
      const key = keys[at]
      if (key === undefined || values[at] === undefined) break
      const optional = this.#token(key, 'opt') !== undefined
      if (optional && !this.#options.optionalSyntax) {
        this.#error(key.start.start, "unsupported syntax '?'")
        continue
      }
      const keyExpr = this.expr(this.#node(key, 'e'))
      entries.push({ id: entryId, key: keyExpr, value: this.expr(values[at]), optional })
    }
    return { kind: 'map', id, entries }
  }

  #struct(node: Node, operator: Token, dot: string): Expr {
    const typeName =
      dot +
      this.#tokens(node, 'id')
        .map(({ text }) => text)
        .join('.')
    const id = this.factory.id(operator.start)
    const fields: StructField[] = []
    const list = this.#node(node, 'entries')
    const keys = list === undefined ? [] : this.#nodes(list, 'key')
    const values = list === undefined ? [] : this.#nodes(list, 'value')
    const colons = list === undefined ? [] : this.#tokens(list, 'col')
    for (const [at, key] of keys.entries()) {
      if (colons[at] === undefined || values[at] === undefined) break
      const fieldId = this.factory.id(colons[at].start)
      const optional = this.#token(key, 'opt') !== undefined
      if (optional && !this.#options.optionalSyntax) {
        this.#error(key.start.start, "unsupported syntax '?'")
        continue
      }
      const identifier = this.#node(key, 'id')
      const name = identifier && this.#identifier(identifier, list!.start.start)
      if (!name) continue
      fields.push({ id: fieldId, name, value: this.expr(values[at]), optional })
    }
    return { kind: 'struct', id, typeName, fields }
  }

  #literal(node: Node): Expr {
    const token = this.#token(node, 'tok')
    if (token === undefined || token.missing) return this.expr(undefined)
    const at = node.start.start
    const sign = this.#token(node, 'sign') === undefined ? '' : '-'
    const make = (value: LiteralValue) => this.factory.literal(this.factory.id(at), value)
    switch (node.alternative) {
      case 1: {
        const value = sign === '-' ? -BigInt(token.text) : BigInt(token.text)
        const isInt = value >= intMin && value <= intMax
        return isInt ? make({ type: 'int', value }) : this.#error(at, 'invalid int literal')
      }
      case 2: {
        const value = BigInt(token.text.slice(0, -1))
        if (value > uintMax) return this.#error(at, 'invalid uint literal')
        return make({ type: 'uint', value })
      }
      case 3: {
        const value = Number(sign + token.text)
        if (!Number.isFinite(value)) return this.#error(at, 'invalid double literal')
        return make({ type: 'double', value })
      }
      case 4: {
        const text = unescapeString(token.text)
        if ('error' in text) return this.#error(at, text.error)
        return make({ type: 'string', value: text.value })
      }
      case 5: {
        const bytes = unescapeBytes(token.text.slice(1))
        if ('error' in bytes) return this.#error(at, bytes.error)
        return make({ type: 'bytes', value: bytes.value })
      }
      case 8:
        return make({ type: 'null', value: null })
      default:
        return make({ type: 'bool', value: node.alternative === 6 })
    }
  }

  /** A call, or what a macro makes of it. */
  #call(id: number, name: string, target: Expr | undefined, args: Expr[]): Expr {
    const call: Expr = { kind: 'call', id, name, target, args }
    const macro = this.#options.macros.get(macroKey(name, args.length, target !== undefined))
    if (macro === undefined) return call
    const make = new MacroFactory(this.factory, id)
    try {
      const expanded = macro.expand(make, args, target ?? call)
      if (expanded === undefined) return call
      this.factory.release(id)
      return expanded
    } catch (error) {
      if (!(error instanceof MacroError)) throw error
      const position = make.positionOf(error.at)
      this.factory.release(id)
      return this.#error(position, error.message)
    }
  }
}

export type ParseResult =
  | { readonly source: Source; readonly parsed: ParsedExpr }
  | { readonly source: Source; readonly errors: readonly CelError[] }

export function parse(text: string, options: ParseOptions): ParseResult {
  const source = new Source(text)
  const errors: CelError[] = []
  const report = (error: CelError) => {
    errors.push(error)
  }
  if (source.length > codePointsMax) {
    const message = `expression code point size exceeds limit: size: ${source.length}, limit ${codePointsMax}`
    return { source, errors: [{ position: -1, message }] }
  }
  const limits = options.limits ?? defaultLimits
  const builder = new TreeBuilder(options, report, limits.recursionMax)
  let root: Expr | undefined
  try {
    const tree = new SyntaxParser(new TokenStream(source, report), report, limits).parse()
    if (tree !== undefined) root = builder.expr(tree)
  } catch (error) {
    // RangeError: the stack is exhausted, or macros inside each other make too many nodes.
    if (!(error instanceof TooDeep || error instanceof RangeError)) throw error
    report({ position: -1, message: 'max recursion depth exceeded' })
  }
  if (errors.length > 0 || root === undefined) return { source, errors }
  return { source, parsed: { root, positions: builder.factory.positions } }
}
