/**
 * The prose of a file: its comments and the titles of its tests, or the text of a page without its
 * code. `test/tidy/prose.test.ts` checks it against the words that STYLE.md avoids.
 */

export interface Prose {
  /** From 1. */
  line: number
  text: string
}

/** What precedes a slash that begins a regular expression. After anything else it is a division. */
const beforeRegExp = /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|await|yield))\s*$/

/**
 * Comments, strings, templates and regular expressions, each from its first to its last character.
 * Strings are matched so that 'https://example.com' does not begin a comment.
 */
const token =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|\$\{(?:[^{}`]|\{[^{}]*\}|`[^`]*`)*\}|[^`\\])*`|\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[dgimsuvy]*/g

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

/** The comments, strings, templates and regular expressions of a TypeScript or JavaScript file. */
function* tokensOf(text: string): Generator<{ index: number; part: string }> {
  const scanner = new RegExp(token)
  for (let match = scanner.exec(text); match !== null; match = scanner.exec(text)) {
    const [part] = match
    const before = text.slice(Math.max(0, match.index - 20), match.index)
    const isDivision = /^\/[^/*]/.test(part) && !beforeRegExp.test(before)
    if (isDivision) scanner.lastIndex = match.index + 1
    else yield { index: match.index, part }
  }
}

const isComment = (part: string): boolean => /^\/[/*]/.test(part)

const commentsOf = (text: string): Prose[] =>
  [...tokensOf(text)]
    .filter(({ part }) => isComment(part))
    .map(({ index, part }) => ({ line: lineAt(text, index), text: part }))

/** The text without its strings, templates and regular expressions; lines stay where they are. */
export function withoutLiterals(text: string): string {
  let rest = ''
  let end = 0
  for (const { index, part } of tokensOf(text)) {
    if (isComment(part)) continue
    rest += text.slice(end, index) + part.replace(/[^\n]/g, '')
    end = index + part.length
  }
  return rest + text.slice(end)
}

const titled =
  /\b(?:test|describe|it|check)\(\s*('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`)/g

/**
 * The first string of a row that begins on its own line, or the title of a row with named members:
 *
 *     ['a name without letters', '1', problem],
 *     { title: 'a name without letters', name: '1' },
 */
const titledRow =
  /(?:^[ \t]*\[\s*|\b(?:name|title|says):\s*)('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)/gm

const titlesOf = (text: string, pattern: RegExp): Prose[] =>
  [...text.matchAll(pattern)].map((match) => ({
    line: lineAt(text, match.index + match[0].lastIndexOf(match[1] ?? '')),
    text: (match[1] ?? '').replace(/\$\{[^}]*\}/g, ''),
  }))

const isTest = (path: string): boolean => /\.(test|suite|bench|fixture|child)\.ts$/.test(path)

/**
 * The titles of rows in the tests of a file. proseOf leaves them out, because the first string of a
 * row may also be an expected message. A single word is data.
 */
export const rowTitlesOf = (path: string, text: string): Prose[] =>
  isTest(path) ? titlesOf(text, titledRow).filter((title) => title.text.includes(' ')) : []

/** The text of a Markdown page, with its code blanked. */
function pageOf(text: string): Prose[] {
  const blank = (code: string) => code.replace(/[^\n]/g, ' ')
  const words = text.replace(/^```[\s\S]*?^```|`[^`\n]*`/gm, blank)
  return words.split('\n').map((line, index) => ({ line: index + 1, text: line }))
}

export function proseOf(path: string, text: string): Prose[] {
  if (path.endsWith('.md')) return pageOf(text)
  return [...commentsOf(text), ...(isTest(path) ? titlesOf(text, titled) : [])]
}
