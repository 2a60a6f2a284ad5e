/**
 * The pages: every message has an entry, generated parts are up to date, and metrics of this server
 * are described.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { resourceRows } from '../tools/docs/features-page.ts'
import { serverMessages } from '../tools/docs/server-messages.ts'

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

test('every message of the server has an entry in docs/troubleshooting.md', () => {
  const page = read('docs/troubleshooting.md').replaceAll('\\|', '|')
  const messages = serverMessages()
  assert.ok(messages.length > 50, 'the messages are found')
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
