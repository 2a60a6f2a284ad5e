import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readQuery } from './read-query.ts'

// query, parsed parameters
const rows: [string, [string, string][]][] = [
  ['', []],
  [
    'a=1&b',
    [
      ['a', '1'],
      ['b', ''],
    ],
  ],
  [
    'a=x+y&a=%2B&__proto__=1',
    [
      ['a', 'x y'],
      ['a', '+'],
      ['__proto__', '1'],
    ],
  ],
  ['a=1;b=2&c=3', [['c', '3']]],
  [
    'a=%3B&;&b=1',
    [
      ['a', ';'],
      ['b', '1'],
    ],
  ],
  ['a=%zz&b=%4&c=%', []],
  ['%zz=1&b=%41', [['b', 'A']]],
]
for (const [text, expected] of rows) {
  test(`the query ${JSON.stringify(text)}`, () => assert.deepEqual([...readQuery(text)], expected))
}
