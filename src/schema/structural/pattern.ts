/** Regular expressions that come from users: RE2's syntax, run in time linear in the text, so that none can hang the server. */
import { RE2JS } from 're2js'

export interface Pattern {
  matches(text: string): boolean
}

/** Throws an Error whose message is the one of Go's regexp. */
export function compilePattern(source: string): Pattern {
  const compiled = RE2JS.compile(source)
  return { matches: (text) => compiled.matcher(text).find() }
}

/** What is wrong with a pattern, or undefined. */
export function patternProblem(source: string): string | undefined {
  try {
    RE2JS.compile(source)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
