/**
 * The YAML lexer of Kubernetes: quoted strings and flow collections may continue at any column,
 * where YAML requires indentation.
 *
 *   args: [ "a",
 *   "two
 *   lines" ]
 */
import { Lexer } from 'yaml'

/** Private members of the lexer, which its types do not declare. */
interface Inside {
  /** The column at which a line continues the current node. */
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
