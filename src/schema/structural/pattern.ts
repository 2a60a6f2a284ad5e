/**
 * Regular expressions that come from users: RE2's syntax, run in time linear in the text, so that
 * none can hang the server.
 */
import type { RE2JS } from 're2js'
import { byText } from '#base/by-text.ts'
import { loadLater } from '#base/load-later.ts'

/** Loaded with the first pattern: most servers never see one. */
const loadEngine = loadLater<typeof import('re2js')>(import.meta.url, 're2js')
const re2 = (): typeof RE2JS => loadEngine().RE2JS

export interface Pattern {
  matches(text: string): boolean
}

/**
 * Patterns kept once compiled: schemas repeat theirs, and a definition is looked at several times.
 */
const keptMax = 2000

/** The pattern, or what is wrong with it in the words of Go's regexp. */
const compiledOrProblem = byText((source): Pattern | string => {
  try {
    const compiled = re2().compile(source)
    // Only whether, not where: that needs no more than one state of the automaton for each
    // character.
    return { matches: (text) => compiled.test(text) }
  } catch (error) {
    const { message } = error as Error
    // Go names the part that is wrong also where there is nothing left of it.
    return message.includes('`') ? message : `${message}: \`\``
  }
}, keptMax)

/** Throws where the pattern is none. */
export function compilePattern(source: string): Pattern {
  const compiled = compiledOrProblem(source)
  if (typeof compiled === 'string') throw new Error(compiled)
  return compiled
}

/** What is wrong with a pattern, or undefined. */
export function patternProblem(source: string): string | undefined {
  const compiled = compiledOrProblem(source)
  return typeof compiled === 'string' ? compiled : undefined
}
