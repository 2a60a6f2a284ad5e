/**
 * The paths of printer columns, read: `.status.conditions[?(@.type=="Ready")].status`. The grammar
 * is kube-apiserver's with all its corners, because a path that it cannot read hides the columns
 * after it. Nothing here looks at an object.
 */
import { exactInteger } from '#codec/exact-integer.ts'
import { type JsonPathNode, notInt64 } from './json-path-node.ts'
import { unquoteGo } from './unquote-go.ts'

/** The text is not a valid path. The message is kube-apiserver's. */
class NoPath extends Error {}

/** Parses a path. Undefined if the text is not a valid path. */
export function parseJsonPath(text: string): readonly JsonPathNode[] | undefined {
  try {
    const [first, ...rest] = new Parser(`{${text}}`).lists()
    return rest.length === 0 ? first : [{ is: 'guarded', first, rest }]
  } catch (error) {
    if (error instanceof NoPath) return undefined
    throw error
  }
}

/** Why a text is not a valid path, in kube-apiserver's words. Undefined if it is one. */
export function jsonPathProblem(text: string): string | undefined {
  try {
    new Parser(`{${text}}`).lists()
    return undefined
  } catch (error) {
    if (error instanceof NoPath) return error.message
    throw error
  }
}

/** `U+0025 '%'`; a character that cannot be printed has only its number. */
function goCharacter(ch: string): string {
  const number = (ch.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(ch) ? `U+${number} '${ch}'` : `U+${number}`
}

/** A nested path. A brace in it ends it, and the rest must be valid nevertheless. */
const actionOf = (text: string): readonly JsonPathNode[] => new Parser(`{${text}}`).lists()[0]

const unexpected = (rest: string): string => {
  const ch = String.fromCodePoint(rest.codePointAt(0) ?? 10)
  return ch === '\n' || ch === '\r'
    ? 'unclosed action'
    : `unrecognized character in action: ${goCharacter(ch)}`
}

const isTerminator = (ch: string | undefined): boolean =>
  ch === undefined || ' \t\r\n.,[]$@{}'.includes(ch)
const startsWord = /^[\p{L}\p{Nd}_]/u
const slicePattern = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/
const comparison = /^([^!<>=]+)([!<>=]+)([^\n]+?)$/
const integer = /^[+-]?\d+$/
const float = /^[+-]?(\d+\.?\d*|\.\d+)$/

class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The contents of each pair of braces. Text between braces is literal. */
  lists(): [JsonPathNode[], ...JsonPathNode[][]] {
    const lists: JsonPathNode[][] = []
    for (;;) {
      const open = this.#text.indexOf('{', this.#at)
      if (open === -1) return lists as [JsonPathNode[], ...JsonPathNode[][]]
      this.#at = open + 1
      lists.push(this.#list())
    }
  }

  #list(): JsonPathNode[] {
    const nodes: JsonPathNode[] = []
    for (;;) {
      const rest = this.#text.slice(this.#at)
      const ch = rest[0]
      if (ch === '}') {
        this.#at++
        return nodes
      }
      if (rest.startsWith('[?(')) nodes.push(this.#filter())
      else if (rest.startsWith('..')) this.#recursive(nodes)
      else if (ch === ' ' || ch === '@' || ch === '$') this.#at++
      else if (ch === '[') nodes.push(...this.#brackets())
      else if (ch === '"' || ch === "'") nodes.push(this.#quoted(ch))
      else if (ch === '.') {
        this.#at++
        nodes.push(this.#field())
      } else if (/^(?:[+-]|\p{Nd})/u.test(rest)) nodes.push(this.#number())
      else if (startsWord.test(rest)) nodes.push(this.#word())
      else throw new NoPath(unexpected(rest))
    }
  }

  #recursive(nodes: JsonPathNode[]): void {
    if (nodes.at(-1)?.is === 'recursive') throw new NoPath('invalid multiple recursive descent')
    this.#at += 2
    nodes.push({ is: 'recursive' })
    if (startsWord.test(this.#text.slice(this.#at))) nodes.push(this.#field())
  }

  /** Reads a field name up to a terminator. A backslash escapes the next character. */
  #field(): JsonPathNode {
    const start = this.#at
    while (!isTerminator(this.#text[this.#at])) this.#at += this.#text[this.#at] === '\\' ? 2 : 1
    const name = this.#text.slice(start, this.#at)
    return name === '*' ? { is: 'wildcard' } : { is: 'field', name: name.replaceAll('\\', '') }
  }

  #word(): JsonPathNode {
    const start = this.#at
    while (!isTerminator(this.#text[this.#at])) this.#at++
    const name = this.#text.slice(start, this.#at)
    if (name === 'true' || name === 'false') return { is: 'constant', value: name === 'true' }
    return { is: 'identifier', name }
  }

  #number(): JsonPathNode {
    const [text] = /^[+-]?[.\p{Nd}]*/u.exec(this.#text.slice(this.#at)) as RegExpExecArray
    this.#at += text.length
    if (integer.test(text)) {
      const value = BigInt(text.replace('+', ''))
      if (!notInt64(value)) return { is: 'number', kind: 'int', value: exactInteger(value) }
    }
    const value = Number(text)
    if (!float.test(text) || !Number.isFinite(value))
      throw new NoPath(`cannot parse number ${text}`)
    return { is: 'number', kind: 'float', value }
  }

  #quoted(quote: string): JsonPathNode {
    const start = this.#at
    for (this.#at++; ; this.#at++) {
      const ch = this.#text[this.#at]
      if (ch === undefined || ch === '\n') throw new NoPath('unterminated quoted string')
      if (ch === quote && this.#text[this.#at - 1] !== '\\') break
    }
    this.#at++
    const text = this.#text.slice(start, this.#at)
    const value = unquoteGo(text.slice(1, -1), quote)
    if (value === undefined) throw new NoPath(`unquote string ${text} error invalid syntax`)
    return { is: 'text', value }
  }

  /**
   * The contents of brackets: a quoted name (parsed as a path), an index, a slice, a star, or
   * several of these.
   */
  #brackets(): readonly JsonPathNode[] {
    const end = /^[^\]\n]*(?=\])/.exec(this.#text.slice(this.#at + 1))
    if (end === null) throw new NoPath('unterminated array')
    const text = end[0]
    this.#at += text.length + 2
    const parts = text.split(',')
    if (parts.length > 1) {
      const lists = parts.map((part) => actionOf(`[${part.replace(/^ +|(?<! ) +$/g, '')}]`))
      return [{ is: 'union', lists }]
    }
    const name = /^'([^']*)'$/.exec(text)
    return name === null ? [sliceOf(text === '*' ? ':' : text)] : actionOf(`.${name[1]}`)
  }

  #filter(): JsonPathNode {
    const start = this.#at + '[?('.length
    const end = this.#filterEnd(start)
    const text = this.#text.slice(start, end)
    this.#at = end + 2
    const parts = comparison.exec(text)
    if (parts === null) return { is: 'filter', left: actionOf(text), operator: 'exists', right: [] }
    const [, left, operator, right] = parts as unknown as [string, string, string, string]
    return { is: 'filter', left: actionOf(left), operator, right: actionOf(right) }
  }

  /** The position of the closing parenthesis. Parentheses in the first quoted text are ignored. */
  #filterEnd(start: number): number {
    let quote = ''
    let closed = false
    for (let at = start; ; at++) {
      const ch = this.#text[at]
      if (ch === undefined || ch === '\n') throw new NoPath('unterminated filter')
      if (ch === ')' && (quote === '') === !closed) {
        if (this.#text[at + 1] !== ']') throw new NoPath('unclosed array expect ]')
        return at
      }
      if (ch !== '"' && ch !== "'") continue
      if (quote === '') quote = ch
      else if (ch === quote && this.#text[at - 1] !== '\\') closed = true
    }
  }
}

/** `1`, `-1`, `1:3`, `::2`; nothing at all is the first. */
function sliceOf(text: string): JsonPathNode {
  const match = slicePattern.exec(text)
  if (match === null) throw new NoPath(`invalid array index ${text}`)
  const [from, to, step] = [match[1], match[2]?.slice(1), match[3]?.slice(1)].map(placeOf)
  if (match[2] === undefined) return { is: 'slice', from, to: (from ?? 0) + 1, single: true }
  return { is: 'slice', from, to, step, single: false }
}

function placeOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (text === '-' || notInt64(BigInt(text)))
    throw new NoPath(`array index ${text} is not a number`)
  return Number(text)
}
