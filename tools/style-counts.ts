/**
 * How often each folder breaks the rules of STYLE.md. The rules are about words to avoid, sentences
 * over 25 words, lines over 100 columns, functions over 70 lines, and entries of the changelog.
 * `test/tidy/limits.txt` has a row for each folder that breaks one; its counts may only fall.
 * Without arguments this lowers the limits to the counts. With a folder it prints what breaks the
 * rules there.
 *
 *   node tools/run.mjs file tools/style-counts.ts [src/http]
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { proseOf, rowTitlesOf, withoutLiterals } from './prose.ts'
import { longEntries, sentencesOf, sentenceWordsMax } from './sentences.ts'

const root = resolve(import.meta.dirname, '..')
const limitsPath = join(root, 'test/tidy/limits.txt')
const columnsMax = 100
const functionLinesMax = 70

const avoided =
  /\b(?:told|tells?|telling|asks?|asked|asking|said|whoever|whomever|somebody|someone|nobody|everybody|the originals?|of old)\b|\b(?:what (?:is|are) (?:none|no|nobody)|(?:that|which) (?:is|are|was|were) none)\b(?! of)/gi

export const rules = ['words', 'sentences', 'columns', 'functions', 'entries'] as const
export type Rule = (typeof rules)[number]

export interface Offence {
  rule: Rule
  path: string
  line: number
  what: string
}

/**
 * A line that ends the head of a function and begins its block: `function x() {`, `#y() {`, `) =>
 * {`, `): T {`.
 */
const functionBegins =
  /(?:=> |\bfunction\*?[^{]*|^ *(?:static |async |get |set |\*)*#?\w+(?:<.*>)?\(.*\).*|^ *\).*)\{$/
const otherBlock = /^(?:\} )?(?:if|for|while|switch|catch|else|do|try|class|interface|type)\b/

/**
 * Functions by indentation, which the formatter makes certain: a block ends at the next line
 * indented like its head.
 */
function* longFunctions(lines: readonly string[]): Generator<{ line: number; length: number }> {
  for (const [index, line] of lines.entries()) {
    const code = line.trimStart()
    if (!functionBegins.test(line) || otherBlock.test(code)) continue
    const indent = line.slice(0, line.length - code.length)
    const end = lines.findIndex((text, at) => at > index && text.startsWith(`${indent}}`))
    const length = end - index + 1
    if (length > functionLinesMax) yield { line: index + 1, length }
  }
}

const blank = (code: string): string => ' '.repeat(code.length)

/** What breaks a rule in one file. */
export function offencesIn(path: string, text: string): Offence[] {
  const lines = text.split('\n')
  const words = [...proseOf(path, text), ...rowTitlesOf(path, text)].flatMap((prose) =>
    [...prose.text.replace(/`[^`\n]*`/g, blank).matchAll(avoided)].map((match) => ({
      rule: 'words' as const,
      path,
      line: prose.line + prose.text.slice(0, match.index).split('\n').length - 1,
      what: `avoid "${match[0]}"`,
    })),
  )
  const sentences = sentencesOf(path, text)
    .filter((sentence) => sentence.words > sentenceWordsMax)
    .map((sentence) => ({
      rule: 'sentences' as const,
      path,
      line: sentence.line,
      what: `a sentence of ${sentence.words} words: ${sentence.text.slice(0, 60)}…`,
    }))
  if (path === 'CHANGELOG.md') {
    const entries = longEntries(text).map(({ line, text: entry }) => ({
      rule: 'entries' as const,
      path,
      line,
      what: `an entry of several sentences: ${entry.slice(0, 60)}…`,
    }))
    return [...words, ...sentences, ...entries]
  }
  if (path.endsWith('.md')) return [...words, ...sentences]
  // A text of Kubernetes stays on one line, where a search finds it.
  const code = withoutLiterals(text).split('\n')
  const columns = lines.flatMap((line, index) =>
    line.length > columnsMax && code[index]!.length > columnsMax && !line.includes('biome-ignore')
      ? { rule: 'columns' as const, path, line: index + 1, what: `${line.length} columns` }
      : [],
  )
  const isTest = /\.(test|suite|bench|child|fixture)\.ts$/.test(path)
  const functions = [...(isTest ? [] : longFunctions(lines))].map(({ line, length }) => ({
    rule: 'functions' as const,
    path,
    line,
    what: `a function of ${length} lines`,
  }))
  return [...words, ...sentences, ...columns, ...functions]
}

const tops = 'src test conformance tools benchmarks examples docs bin lib packages deploy'.split(
  ' ',
)
/** Measurements of the past are not rewritten, and generated pages follow their sources. */
const skipped =
  /(^|\/)(node_modules|dist|bundle)\/|^benchmarks\/results\/|^docs\/releases\.md$|^test\/tidy\/prose\.test\.ts$/

function checkedFiles(): string[] {
  const below = tops.flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)),
  )
  return [...readdirSync(root), ...below]
    .filter((path) => /\.(ts|mjs|js|md)$/.test(path) && !skipped.test(path))
    .sort()
}

/** `src/kinds/core` for what lies in it at any depth, `docs` for its pages. */
export function folderOf(path: string): string {
  const folders = path.split('/').slice(0, -1)
  return folders.slice(0, folders[1] === 'kinds' ? 3 : 2).join('/') || '.'
}

export const allOffences = (): Offence[] =>
  checkedFiles().flatMap((path) => offencesIn(path, readFileSync(join(root, path), 'utf8')))

/** `words src/http` → how often. */
export function counts(offences: readonly Offence[]): Map<string, number> {
  const found = new Map<string, number>()
  for (const { rule, path } of offences) {
    const key = `${rule} ${folderOf(path)}`
    found.set(key, (found.get(key) ?? 0) + 1)
  }
  return found
}

/**
 * Rows such as `words src/http 120`. A folder without a row has the limit 0. Git merges the file by
 * keeping the rows of both sides (.gitattributes), so a folder may have two rows: the lower one
 * counts.
 */
export function limits(): Map<string, number> {
  const found = new Map<string, number>()
  for (const row of readFileSync(limitsPath, 'utf8').split('\n').filter(Boolean)) {
    const at = row.lastIndexOf(' ')
    const [key, limit] = [row.slice(0, at), Number(row.slice(at + 1))]
    found.set(key, Math.min(limit, found.get(key) ?? limit))
  }
  return found
}

function lowerLimits() {
  const now = counts(allOffences())
  const rows = [...limits()].map(
    ([key, limit]) => [key, Math.min(limit, now.get(key) ?? 0)] as const,
  )
  const text = rows.filter(([, limit]) => limit > 0).map(([key, limit]) => `${key} ${limit}\n`)
  writeFileSync(limitsPath, text.sort().join(''))
}

if (import.meta.main) {
  const folder = process.argv[2]
  if (folder === undefined) lowerLimits()
  for (const { rule, path, line, what } of folder === undefined ? [] : allOffences())
    if (path.startsWith(folder)) console.log(`${path}:${line}: ${rule}: ${what}`)
}
