/**
 * Regular expressions from users, with RE2's syntax. They run in time linear in the text, so none
 * can block the server.
 */
import type { RE2JS } from 're2js'
import { byText } from '#base/by-text.ts'
import { loadLater } from '#base/load-later.ts'

/** Loaded with the first pattern, because most servers have none. */
const loadEngine = loadLater<typeof import('re2js')>(import.meta.url, 're2js')
const re2 = (): typeof RE2JS => loadEngine().RE2JS

export interface Pattern {
  matches(text: string): boolean
}

/**
 * Number of cached compiled patterns. Schemas repeat patterns, and a definition is validated
 * several times.
 */
const keptMax = 2000

/** The compiled pattern, or Go regexp's error message. */
const compiledOrProblem = byText((source): Pattern | string => {
  try {
    const compiled = re2().compile(source)
    // Only tests for a match, for which the automaton needs one state per character.
    return { matches: (text) => compiled.test(text) }
  } catch (error) {
    const { message } = error as Error
    // Go always appends the invalid part, even if it is empty.
    return message.includes('`') ? message : `${message}: \`\``
  }
}, keptMax)

/** Throws if the pattern is invalid. */
export function compilePattern(source: string): Pattern {
  const compiled = compiledOrProblem(source)
  if (typeof compiled === 'string') throw new Error(compiled)
  return compiled
}

/** The error of an invalid pattern. Undefined if the pattern is valid. */
export function patternProblem(source: string): string | undefined {
  const compiled = compiledOrProblem(source)
  return typeof compiled === 'string' ? compiled : undefined
}
