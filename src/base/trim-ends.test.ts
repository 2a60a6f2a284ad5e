import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trimEnd, trimEnds } from './trim-ends.ts'

type Row = [text: string, gone: string, both: string, end: string]
const rows: Row[] = [
  ['', ' ', '', ''],
  ['   ', ' ', '', ''],
  ['  a b  ', ' ', 'a b', '  a b'],
  [' \ta\t ', ' ', '\ta\t', ' \ta\t'],
  [' \ta\t ', ' \t', 'a', ' \ta'],
  ['1000', '0', '1', '1'],
]

function check([text, gone, both, end]: Row) {
  assert.equal(trimEnds(text, gone), both)
  assert.equal(trimEnd(text, gone), end)
}

for (const row of rows) test(JSON.stringify(row.slice(0, 2)), () => check(row))
