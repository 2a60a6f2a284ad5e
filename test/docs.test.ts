/**
 * The pages: every message has an entry, generated parts are up to date, and metrics of this server
 * are described.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { parseCommand } from '#cli/command.ts'
import { commandTable } from '#cli/command-table.ts'
import { flagTable } from '#settings/flag-table.ts'
import { unreadFlags } from '#settings/unread-flags.ts'
import { blocksOf } from '../tools/docs/console-blocks.ts'
import { resourceRows } from '../tools/docs/features-page.ts'
import { serverMessages } from '../tools/docs/server-messages.ts'

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

test('every message of the server has an entry in docs/troubleshooting.md', () => {
  const page = read('docs/troubleshooting.md').replaceAll('\\|', '|')
  const messages = serverMessages()
  assert.ok(messages.length > 80, 'the messages are found')
  for (const origin of ['run.mjs', 'binnacle.js', 'prepare.cjs', 'npm-flags.ts', 'flags.ts'])
    assert.ok(
      messages.some(({ file }) => file.endsWith(`/${origin}`)),
      origin,
    )
  // A message may be shortened where it says what to do itself.
  const missing = messages
    .filter(({ fixed }) => !page.includes(fixed.replace(/^[^\w-]+/, '')))
    .map(({ file, text }) => `${file}: ${text}`)
  assert.deepEqual(missing, [])
})

test('the resources of docs/features.md are those of the facts', () => {
  const page = read('docs/features.md')
  const there = page.slice(page.indexOf('## Resources')).match(/^\| [a-z].*$/gm)
  assert.deepEqual(there?.slice(1), resourceRows())
})

test('docs/metrics.md describes the metrics of src/server/operation-metrics.ts', () => {
  const page = read('docs/metrics.md')
  const source = read('src/server/operation-metrics.ts')
  const names = [...source.matchAll(/plain\(\s*'(\w+)'/g)].map(([, name]) => `binnacle_${name}`)
  assert.ok(names.length >= 10)
  assert.deepEqual(
    names.filter((name) => !page.includes(`\`${name}\``)),
    [],
  )
})

test('every page is in the list of docs/README.md', () => {
  const list = read('docs/README.md')
  const pages = readdirSync(join(root, 'docs')).filter((name) => /\.md$/.test(name))
  assert.deepEqual(
    pages.filter((name) => name !== 'README.md' && !list.includes(`(${name})`)),
    [],
  )
})

/** What users read; pages for those who change the code name commands of theirs. */
const userPages = [
  'README.md',
  'examples/README.md',
  'packages/go/README.md',
  'packages/python/README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

test('every block of a page runs, is a file that a command uses, or is marked as something else', () => {
  const isMarked = /^(console( needs=[\w,-]+)?|\w+ (file=\S+|part)|text|json)$/
  const unmarked = userPages.flatMap((page) =>
    blocksOf(read(page))
      .filter(({ kind }) => !isMarked.test(kind))
      .map(({ line, kind }) => `${page}:${line}: ${kind}`),
  )
  assert.deepEqual(unmarked, [])
  // What is marked as text has no command of a prompt.
  for (const page of userPages)
    for (const { kind, lines, line } of blocksOf(read(page)))
      if (!kind.startsWith('console'))
        assert.ok(!lines.some((text) => text.startsWith('$ ')), `${page}:${line}`)
})

const inlineCode = (page: string) =>
  read(page)
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .matchAll(/`([^`\n]+)`/g)

test('commands and flags in the text of pages exist', () => {
  const { scripts } = JSON.parse(read('package.json'))
  const options = Object.values(commandTable).flatMap((row) => Object.keys(row.options))
  const flags = new Set([...Object.keys(flagTable), ...unreadFlags.keys(), ...options, 'help'])
  const wrong = userPages.flatMap((page) =>
    [...inlineCode(page)].flatMap(([, code = '']) => {
      const problem = inlineProblem(code, scripts, flags)
      return problem === undefined ? [] : [`${page}: ${code}: ${problem}`]
    }),
  )
  assert.deepEqual(wrong, [])
})

function inlineProblem(
  code: string,
  scripts: Readonly<Record<string, string>>,
  flags: ReadonlySet<string>,
): string | undefined {
  const [, script] = /^npm run (?:--silent )?([\w:]+)/.exec(code) ?? []
  if (script !== undefined && scripts[script] === undefined) return 'there is no such script'
  const [, file] = /^node tools\/run\.mjs file (\S+)/.exec(code) ?? []
  if (file !== undefined && !existsSync(join(root, file))) return 'there is no such file'
  const [, flag] = /^--([a-z][\w-]*)(?:=|$)/.exec(code) ?? []
  if (flag !== undefined && !flags.has(flag) && !otherFlags.has(flag))
    return 'there is no such flag'
  const [, given] = /^(?:binnacle|npm start --) ((?!COMMAND)[a-z][\w -]*[\s\S]*)$/.exec(code) ?? []
  if (given === undefined || /[<>|]/.test(given)) return undefined
  const words = given.replaceAll('…', 'x').replaceAll('TIME', '1h').split(' ')
  const parsed = parseCommand(words)
  // Pages leave out what a command needs besides.
  return parsed.command === 'refuse' && /unknown/.test(parsed.error) ? parsed.error : undefined
}

/** Flags of other programs that pages name. */
const otherFlags = new Set([
  'atomic',
  'wait',
  'dry-run',
  'service-account-private-key-file',
  'root-ca-file',
  'cluster-signing-cert-file',
  'cluster-signing-key-file',
  'inspect',
  'name',
])
