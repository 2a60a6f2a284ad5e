import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalDuration } from './duration.ts'

const cases: [string, string | undefined][] = [
  ['0', '0s'],
  ['0s', '0s'],
  ['90s', '1m30s'],
  ['3600s', '1h0m0s'],
  ['1.5h', '1h30m0s'],
  ['1h1m1.001s', '1h1m1.001s'],
  ['100ms', '100ms'],
  ['1500us', '1.5ms'],
  ['1µs', '1µs'],
  ['1μs', '1µs'],
  ['1ns', '1ns'],
  ['-1.5s', '-1.5s'],
  ['+5m', '5m0s'],
  ['.5s', '500ms'],
  ['5.s', '5s'],
  ['9223372036854775807ns', '2562047h47m16.854775807s'],
  ['-9223372036854775808ns', '-2562047h47m16.854775808s'],
  ['9223372036854775808ns', undefined],
  ['', undefined],
  ['-', undefined],
  ['--5s', undefined],
  ['5s\n', undefined],
  ['.s', undefined],
  ['1', undefined],
  ['1d', undefined],
  ['s', undefined],
  ['1 s', undefined],
  ['1constructor', undefined],
  [`${'9'.repeat(300)}s`, undefined],
]
for (const [text, expected] of cases) {
  test(`duration ${text.slice(0, 40)}`, () => assert.equal(canonicalDuration(text), expected))
}
