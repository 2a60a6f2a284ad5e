/** Regular expressions of RE2, which take time linear in the text. */
import type { RE2JS } from 're2js'
import { byText } from '#base/by-text.ts'
import { loadLater } from '#base/load-later.ts'
import { CelError } from './values.ts'
import { work } from './work.ts'

/** Loaded with the first pattern: most servers never see one. */
const loadEngine = loadLater<typeof import('re2js')>(import.meta.url, 're2js')
const re2 = (): typeof RE2JS => loadEngine().RE2JS

export interface Regex {
  test(text: string): boolean
  /** Up to `limit` matches from the left. */
  find(text: string, limit: number): string[]
}

/** Work of looking at one character, and of one match that is found. */
const characterWork = 40
const matchWork = 1000

function readText({ length }: string): void {
  if (length > 1000) work(characterWork * length)
}

/** Patterns that are kept compiled: the objects of a kind are checked with the same few. */
const keptMax = 1000

/** The compiled pattern, or the error with the text of Go's regexp. */
export const compileRegex = byText((source): Regex | CelError => {
  try {
    const compiled = re2().compile(source)
    return {
      test(text) {
        readText(text)
        return compiled.test(text)
      },
      find(text, limit) {
        readText(text)
        const found: string[] = []
        const matcher = compiled.matcher(text)
        while (found.length < limit && matcher.find()) {
          work(matchWork)
          found.push(matcher.group() ?? '')
        }
        return found
      },
    }
  } catch (error) {
    const { message } = error as Error
    // Go names the part that is wrong also where nothing is left of it.
    return new CelError(message.includes('`') ? message : `${message}: \`\``)
  }
}, keptMax)
