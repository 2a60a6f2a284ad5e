/**
 * The sentences of prose, and those that are too long to understand on the first reading. A comment
 * or a page is a list of paragraphs; an item of a list and a cell of a table are paragraphs too.
 * Examples, which comments indent, are not prose.
 *
 *   `// It ends.` and `// It is late.` on two lines are one paragraph with two sentences
 */
import { type Prose, proseOf } from './prose.ts'

export const sentenceWordsMax = 25

export interface Sentence {
  /** The line of the paragraph, from 1. */
  readonly line: number
  readonly words: number
  readonly text: string
}

/** What follows the end of a sentence. The full stops of `1.22`, `e.g.` and `file.ts` end none. */
const sentenceEnd = /(?<=[.!?]['")]?)(?<!\b(?:e\.g|i\.e|etc|vs)\.)\s+/

const wordsIn = (sentence: string): number =>
  sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

/** The lines of a comment without its marks. An indented line becomes empty. */
const bareLines = (comment: string): string[] =>
  comment
    .replace(/^\/\*+|\*+\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*(?:\*|\/\/+)(?= |$)/, ''))
    .map((line, index) => (index > 0 && /^ {3,}/.test(line) ? '' : line.trim()))

/** Lines of a page: without code, headings and addresses of links; a cell of a table is a line. */
const pageLines = (text: string): string[] =>
  text
    .replace(/^```[\s\S]*?^```/gm, (code) => code.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]*`/g, 'x')
    .replace(/\]\([^)\s]*\)/g, ']')
    .split('\n')
    .map((line) => (/^\s*(?:#|<|\|)/.test(line) ? '' : line.trim()))

/** Comments on consecutive lines continue each other. */
function joined(comments: readonly Prose[]): Prose[] {
  const found: Prose[] = []
  for (const { line, text } of comments) {
    const last = found.at(-1)
    const follows = last !== undefined && last.line + last.text.split('\n').length === line
    if (follows && text.startsWith('//') && last.text.startsWith('//')) last.text += `\n${text}`
    else found.push({ line, text })
  }
  return found
}

/** Joins the lines of each paragraph, and splits paragraphs into sentences. */
function sentencesIn(lines: readonly string[], firstLine: number): Sentence[] {
  const paragraphs: { line: number; text: string }[] = []
  let ended = true
  for (const [index, line] of lines.entries()) {
    const last = paragraphs.at(-1)
    if (line === '') ended = true
    else if (ended || last === undefined || /^(?:[-*]|\d+\.) /.test(line)) {
      paragraphs.push({ line: firstLine + index, text: line })
      ended = false
    } else last.text += ` ${line}`
  }
  return paragraphs.flatMap(({ line, text }) =>
    text.split(sentenceEnd).map((one) => ({ line, words: wordsIn(one), text: one })),
  )
}

/** All sentences of a file: of its comments and titles of tests, or of the page. */
export function sentencesOf(path: string, text: string): Sentence[] {
  if (path.endsWith('.md')) return sentencesIn(pageLines(text), 1)
  return joined(proseOf(path, text)).flatMap((prose) =>
    sentencesIn(bareLines(prose.text.replace(/`[^`\n]*`/g, 'x')), prose.line),
  )
}

/** Entries of the section Unreleased of a changelog that have more than one sentence. */
export function longEntries(changelog: string): { line: number; text: string }[] {
  const begins = changelog.indexOf('\n## Unreleased')
  const ends = changelog.indexOf('\n## ', begins + 1)
  const before = changelog.slice(0, begins).split('\n').length
  const section = changelog.slice(begins + 1, ends === -1 ? undefined : ends)
  return section.split('\n').flatMap((text, index) => {
    const isEntry = text.startsWith('- ')
    const many = isEntry && text.replace(/`[^`]*`/g, 'x').split(sentenceEnd).length > 1
    return many ? [{ line: before + index + 1, text }] : []
  })
}
