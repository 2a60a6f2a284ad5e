/**
 * The text of an expression, addressed by code point, and its errors in cel-go's form:
 *
 *   ERROR: <input>:1:5: undeclared reference to 'x' (in container '')
 *    | 1 + x
 *    | ....^
 */

export interface CelError {
  /** Offset in code points; -1 for an error that has no place. */
  readonly position: number
  readonly message: string
}

const errorsMax = 100
/** Lines longer than this are not shown below an error. */
const snippetBytesMax = 16_384

export class Source {
  readonly text: string
  /** Characters by code point. Text without surrogate pairs is its own array. */
  readonly characters: string | readonly string[]
  readonly length: number

  constructor(text: string) {
    this.text = text
    this.characters = /[\ud800-\udfff]/.test(text) ? [...text] : text
    this.length = this.characters.length
  }

  slice(start: number, end: number): string {
    const { characters } = this
    return typeof characters === 'string'
      ? characters.slice(start, end)
      : characters.slice(start, end).join('')
  }

  /** Line from 1, column from 0. */
  location(position: number): { line: number; column: number } {
    if (position < 0) return { line: -1, column: -1 }
    let line = 1
    let lineStart = 0
    for (let at = 0; at < position && at < this.length; at++) {
      if (this.characters[at] !== '\n') continue
      line++
      lineStart = at + 1
    }
    return { line, column: position - lineStart }
  }

  #line(line: number): string | undefined {
    return this.length === 0 ? undefined : this.text.split('\n')[line - 1]
  }

  #display({ position, message }: CelError): string {
    const { line, column } = this.location(position)
    // cel-go does not count the columns of an empty text.
    const shown = this.length === 0 ? column : column + 1
    const head = `ERROR: <input>:${line}:${shown}: ${message}`
    const snippet = this.#line(line)?.replaceAll('\t', ' ')
    if (snippet === undefined || Buffer.byteLength(snippet) > snippetBytesMax) return head
    const isWide = (character: string | undefined) =>
      character !== undefined && character.codePointAt(0)! > 127
    const characters = [...snippet]
    const dots = characters.slice(0, column).map((character) => (isWide(character) ? '．' : '.'))
    const mark = isWide(characters[column]) ? '＾' : '^'
    return `${head}\n | ${snippet}\n | ${dots.join('')}${mark}`
  }

  /** All errors in the order of the text, as one string. */
  format(errors: readonly CelError[]): string {
    const placed = errors
      .slice(0, errorsMax)
      .map((error) => ({ error, ...this.location(error.position) }))
      .sort((a, b) => a.line - b.line || a.column - b.column)
    const lines = placed.map(({ error }) => this.#display(error))
    if (errors.length > errorsMax)
      lines.push(`${errors.length - errorsMax} more errors were truncated`)
    return lines.join('\n')
  }
}
