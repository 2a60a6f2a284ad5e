/**
 * The claims of facts/README.md about the tables: every column is described, and the tables are
 * small.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'

const folder = new URL('../../facts/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
const tableOf = (name: string) => JSON.parse(readFileSync(new URL(name, folder), 'utf8'))
const page = readFileSync(new URL('README.md', folder), 'utf8')
const told = new Set([...page.matchAll(/`([^`\n]+)`/g)].flatMap(([, text]) => text.split(/[ ,]+/)))

/** The maximum size of the tables of one release; those of all releases are smaller. */
const sizeBytesMax = 1_500_000

/**
 * Names of columns: the keys of rows, where those are no names of things that the rows are about.
 */
function* columnsOf(name: string): Generator<string> {
  const table = tableOf(name)
  if (name === 'features.json') return
  if (name.startsWith('rules.')) return yield* ruleColumnsOf(name)
  yield* Object.keys(table)
  if (name === 'releases.json') {
    for (const row of Object.values(table.packages)) yield* Object.keys(row as object)
    for (const row of [...table.groupVersions, ...table.resources]) {
      yield* Object.keys(row)
      yield* Object.keys(row.lifecycle ?? {})
      for (const one of row.subresources ?? []) yield* Object.keys(one)
    }
    return
  }
  for (const rows of Object.values(table.names)) {
    for (const row of [rows].flat()) yield* Object.keys(row as object)
  }
  for (const row of Object.values(table.types) as {
    fields: [string, string, 0, string, object?][]
  }[]) {
    yield* Object.keys(row)
    for (const [, type, , flags, options = {}] of row.fields) {
      yield* [...flags, ...Object.keys(options)]
      const plain = type.replace(/^(\[\]|\{\})+/, '')
      if (/^[a-z][A-Za-z0-9]*$/.test(plain)) yield plain
    }
  }
}

/** Columns and the names of rules. */
function* ruleColumnsOf(name: string): Generator<string> {
  const { kinds, types } = tableOf(name)
  for (const row of [kinds, types].flatMap((part) => Object.values(part)).flat()) {
    yield* Object.keys(row as object)
  }
  const text = readFileSync(new URL(name, folder), 'utf8')
  for (const [, rule] of text.matchAll(/\["(\w+)","a?b?s?q?"[,\]]/g)) yield rule as string
}

for (const name of files) {
  test(`every column of ${name} is described`, () => {
    assert.deepEqual(
      [...new Set(columnsOf(name))].filter((column) => !told.has(column)),
      [],
    )
  })
}

test('the tables are small', () => {
  const bytes = files.reduce((sum, name) => sum + statSync(new URL(name, folder)).size, 0)
  assert.ok(bytes < sizeBytesMax, `${bytes} bytes`)
})
