/**
 * The lexer of YAML as Kubernetes has it: a text in quotes and what is in brackets may go on at any
 * column, where YAML wants it further in than what it belongs to.
 *
 *   args: [
 *   "a",
 *   "two
 *   lines"
 *   ]
 */
import { Lexer } from 'yaml'

/** What of the lexer is its own, and no part of its types. */
interface Inside {
  /** The column from which on a line belongs to what was begun. */
  indentNext: number
  parseQuotedScalar(): Generator<string, unknown>
  parseFlowCollection(): Generator<string, unknown>
}

export function looseLexer(): Lexer {
  const lexer = new Lexer()
  const inside = lexer as unknown as Inside
  for (const step of ['parseQuotedScalar', 'parseFlowCollection'] as const) {
    const strict = inside[step]
    inside[step] = function* (this: Inside) {
      const { indentNext } = this
      this.indentNext = 0
      const next = yield* strict.call(this)
      this.indentNext = indentNext
      return next
    }
  }
  return lexer
}
