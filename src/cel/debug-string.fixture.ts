/** Writes a syntax tree as cel-go's tests do, with the kind of each node. */
import type { Expr, Literal, ParsedExpr } from './ast.ts'

const literalNames = {
  bool: 'Constant_BoolValue',
  bytes: 'Constant_BytesValue',
  double: 'Constant_DoubleValue',
  int: 'Constant_Int64Value',
  null: 'Constant_NullValue',
  string: 'Constant_StringValue',
  uint: 'Constant_Uint64Value',
}
const nodeNames = {
  call: 'Expr_CallExpr',
  comprehension: 'Expr_ComprehensionExpr',
  ident: 'Expr_IdentExpr',
  list: 'Expr_ListExpr',
  map: 'Expr_StructExpr',
  struct: 'Expr_StructExpr',
  select: 'Expr_SelectExpr',
}

const kindOf = (expr: Expr) =>
  `^#*expr.${expr.kind === 'literal' ? literalNames[expr.type] : nodeNames[expr.kind]}#`

const goEscapes = new Map([
  [7, '\\a'],
  [8, '\\b'],
  [9, '\\t'],
  [10, '\\n'],
  [11, '\\v'],
  [12, '\\f'],
  [13, '\\r'],
  [34, '\\"'],
  [92, '\\\\'],
])

function quote(text: string): string {
  let quoted = '"'
  for (const character of text) {
    const code = character.codePointAt(0)!
    if (goEscapes.has(code)) quoted += goEscapes.get(code)
    else if (code < 32 || code === 127) quoted += `\\x${code.toString(16).padStart(2, '0')}`
    else if (/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) quoted += character
    else if (code < 0x10000) quoted += `\\u${code.toString(16).padStart(4, '0')}`
    else quoted += `\\U${code.toString(16).padStart(8, '0')}`
  }
  return `${quoted}"`
}

function quoteBytes(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    return quote(text.decode(bytes))
  } catch {
    return `"${[...bytes]
      .map(
        (byte) =>
          goEscapes.get(byte) ??
          (byte < 32 || byte > 126
            ? `\\x${byte.toString(16).padStart(2, '0')}`
            : String.fromCharCode(byte)),
      )
      .join('')}"`
  }
}

function double(value: number): string {
  if (Object.is(value, -0)) return '-0'
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)))
  if (exponent >= -4 && exponent < 6) return String(value)
  const [mantissa, power] = value.toExponential().split('e') as [string, string]
  return `${mantissa}e${power[0]}${power.slice(1).padStart(2, '0')}`
}

function literal(expr: Literal): string {
  switch (expr.type) {
    case 'bytes':
      return `b${quoteBytes(expr.value)}`
    case 'string':
      return quote(expr.value)
    case 'uint':
      return `${expr.value}u`
    case 'double':
      return double(expr.value)
    default:
      return String(expr.value)
  }
}

class Writer {
  readonly #adorn: (expr: Expr) => string
  readonly #adornEntry: string
  #text = ''
  #indent = 0
  #isLineStart = true

  constructor(adorn: (expr: Expr) => string, adornEntry: string) {
    this.#adorn = adorn
    this.#adornEntry = adornEntry
  }

  get text() {
    return this.#text
  }

  #add(text: string) {
    if (this.#isLineStart) this.#text += '  '.repeat(this.#indent)
    this.#isLineStart = false
    this.#text += text
  }

  #line() {
    this.#text += '\n'
    this.#isLineStart = true
  }

  #items<Item>(items: readonly Item[], write: (item: Item) => void) {
    if (items.length === 0) return
    this.#indent++
    this.#line()
    for (const [at, item] of items.entries()) {
      if (at > 0) {
        this.#add(',')
        this.#line()
      }
      write(item)
    }
    this.#indent--
    this.#line()
  }

  write(expr: Expr) {
    this.#body(expr)
    this.#add(this.#adorn(expr))
  }

  #body(expr: Expr) {
    switch (expr.kind) {
      case 'literal':
        return this.#add(literal(expr))
      case 'ident':
        return this.#add(expr.name)
      case 'select':
        this.write(expr.operand)
        return this.#add(`.${expr.field}${expr.testOnly ? '~test-only~' : ''}`)
      case 'call':
        if (expr.target !== undefined) {
          this.write(expr.target)
          this.#add('.')
        }
        this.#add(`${expr.name}(`)
        this.#items(expr.args, (arg) => this.write(arg))
        return this.#add(')')
      case 'list':
        this.#add('[')
        this.#items(expr.elements, (element) => this.write(element))
        return this.#add(']')
      case 'map':
        this.#add('{')
        this.#items(expr.entries, ({ optional, key, value }) => {
          if (optional) this.#add('?')
          this.write(key)
          this.#add(':')
          this.write(value)
          this.#add(this.#adornEntry)
        })
        return this.#add('}')
      case 'struct':
        this.#add(`${expr.typeName}{`)
        this.#items(expr.fields, ({ optional, name, value }) => {
          this.#add(`${optional ? '?' : ''}${name}:`)
          this.write(value)
          this.#add(this.#adornEntry)
        })
        return this.#add('}')
      case 'comprehension':
        return this.#comprehension(expr)
    }
  }

  #comprehension(expr: Extract<Expr, { kind: 'comprehension' }>) {
    this.#add('__comprehension__(')
    this.#indent++
    this.#line()
    const lines: [string, (string | Expr | undefined)[]][] = [
      ['Variable', [expr.iterVar, expr.iterVar2]],
      ['Target', [expr.iterRange]],
      ['Accumulator', [expr.accuVar]],
      ['Init', [expr.accuInit]],
      ['LoopCondition', [expr.loopCondition]],
      ['LoopStep', [expr.loopStep]],
      ['Result', [expr.result]],
    ]
    for (const [title, parts] of lines) {
      this.#add(`// ${title}`)
      this.#line()
      for (const part of parts) {
        if (part === undefined) continue
        if (typeof part === 'string') this.#add(part)
        else this.write(part)
        if (title === 'Result') continue
        this.#add(',')
        this.#line()
      }
    }
    this.#add(')')
    this.#indent--
  }
}

/** The tree before the check. */
export function debugString({ root }: ParsedExpr): string {
  const writer = new Writer(kindOf, '^#*expr.Expr_CreateStruct_Entry#')
  writer.write(root)
  return writer.text
}

/** The tree after the check, with what `adorn` writes after each node. */
export function adornedString(root: Expr, adorn: (expr: Expr) => string): string {
  const writer = new Writer(adorn, '')
  writer.write(root)
  return writer.text
}
