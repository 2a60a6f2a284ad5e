/**
 * Paths in definitions, such as `.spec.ports['http']` of a rule or `.spec.size` of a selectable
 * field: fields and keys that the schema declares.
 */
import { FieldPath } from '#api/field-path.ts'
import { type JsonSchema, propertyOf, valuesOf } from '#schema/structural/json-schema.ts'

export interface FoundPath {
  readonly path: FieldPath
  /** The first name. */
  readonly root: string
  readonly schema: JsonSchema
}

/** Tokens: `.`, `[`, `]`, a text in single quotes, or the text between these. */
function tokensOf(text: string): string[] {
  const tokens: string[] = []
  let at = 0
  while (at < text.length) {
    const end = tokenEnd(text, at)
    tokens.push(text.slice(at, end))
    at = end
  }
  return tokens
}

const delimiters = '.[]'

function tokenEnd(text: string, start: number): number {
  if (text[start] === "'") {
    for (let at = start + 1; at < text.length; at += 1)
      if (text[at] === "'" && text[at - 1] !== '\\') return at + 1
    return text.length
  }
  if (delimiters.includes(text[start] as string)) return start + 1
  let end = start
  while (end < text.length && !delimiters.includes(text[end] as string)) end += 1
  return end
}

const escapes: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', "'": "'", '\\': '\\' },
}

class PathProblem extends Error {}

function unescape(text: string): string {
  return text.replace(/\\./g, (sequence) => {
    const plain = escapes[sequence[1] as string]
    if (plain === undefined)
      throw new PathProblem(`invalid string literal: invalid escape char ${sequence}`)
    return plain
  })
}

class PathReader {
  readonly #tokens: readonly string[]
  #next = 0
  #schema: JsonSchema
  #path: FieldPath | undefined
  #root = ''

  constructor(text: string, schema: JsonSchema) {
    this.#tokens = tokensOf(text)
    this.#schema = schema
  }

  read(allowsKeys: boolean): FoundPath {
    while (this.#next < this.#tokens.length) {
      const token = this.#take()
      if (token === '.') this.#step(this.#take())
      else if (token === '[') {
        if (!allowsKeys) throw new PathProblem('array notation is not allowed')
        this.#step(this.#quoted())
        const end = this.#take()
        if (end !== ']') throw new PathProblem(`expected ] but got ${end}`)
      } else throw new PathProblem(`expected [ or . but got: ${token}`)
    }
    return { path: this.#path ?? FieldPath.none, root: this.#root, schema: this.#schema }
  }

  #take(): string {
    const token = this.#tokens[this.#next]
    this.#next += 1
    if (token === undefined) throw new PathProblem('unexpected end of JSON path')
    return token
  }

  #quoted(): string {
    const token = this.#take()
    if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'"))
      throw new PathProblem(`expected single quoted string but got ${token}`)
    return unescape(token.slice(1, -1))
  }

  #step(name: string): void {
    if (this.#path === undefined) this.#root = name
    const values = valuesOf(this.#schema)
    const hasProperties = Object.keys(this.#schema.properties ?? {}).length > 0
    const inside = hasProperties ? propertyOf(this.#schema, name) : values
    if (inside === undefined) throw new PathProblem('does not refer to a valid field')
    if (hasProperties) this.#path = this.#path?.child(name) ?? FieldPath.of(name)
    else this.#path = (this.#path ?? FieldPath.root).key(name)
    this.#schema = inside
  }
}

/** Resolves a fieldPath in the schema. Returns the field, or the error. */
export function findPath(
  text: string,
  schema: JsonSchema,
  allowsKeys: boolean,
): FoundPath | string {
  try {
    return new PathReader(text, schema).read(allowsKeys)
  } catch (error) {
    if (error instanceof PathProblem) return error.message
    throw error
  }
}
