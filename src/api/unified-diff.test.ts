import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unifiedDiff } from './unified-diff.ts'

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i))

const rows: [title: string, before: string[], after: string[], lines: string[]][] = [
  ['nothing differs', ['a', 'b'], ['a', 'b'], []],
  [
    'a line takes the place of another',
    ['{', 'a', '}'],
    ['{', 'b', '}'],
    ['@@ -1,3 +1,3 @@', ' {', '-a', '+b', ' }'],
  ],
  ['one line became none', ['a'], [''], ['@@ -1 +1 @@', '-a', '+']],
  ['a line is added', ['a', 'b'], ['a', 'x', 'b'], ['@@ -1,2 +1,3 @@', ' a', '+x', ' b']],
  [
    'three lines surround a change',
    numbers(1, 10),
    [...numbers(1, 4), 'x', ...numbers(6, 10)],
    ['@@ -2,7 +2,7 @@', ' 2', ' 3', ' 4', '-5', '+x', ' 6', ' 7', ' 8'],
  ],
  [
    'six equal lines stay between two changes',
    ['a', ...numbers(1, 6), 'b'],
    ['x', ...numbers(1, 6), 'y'],
    ['@@ -1,8 +1,8 @@', '-a', '+x', ...numbers(1, 6).map((n) => ` ${n}`), '-b', '+y'],
  ],
  [
    'seven equal lines do not',
    ['a', ...numbers(1, 7), 'b'],
    ['x', ...numbers(1, 7), 'y'],
    [
      '@@ -1,4 +1,4 @@',
      '-a',
      '+x',
      ' 1',
      ' 2',
      ' 3',
      '@@ -6,4 +6,4 @@',
      ' 5',
      ' 6',
      ' 7',
      '-b',
      '+y',
    ],
  ],
  [
    'the longest block counts, not the first',
    ['a', 'b'],
    ['a', 'c', 'a', 'b'],
    ['@@ -1,2 +1,4 @@', '+a', '+c', ' a', ' b'],
  ],
]

for (const [title, before, after, lines] of rows) {
  test(title, () => {
    const text = unifiedDiff(before.join('\n'), after.join('\n'))
    assert.deepEqual(text === '' ? [] : text.slice(0, -1).split('\n'), lines)
  })
}

test('frequent lines of a long text start no block', () => {
  const zeros = Array.from({ length: 200 }, () => '0')
  const text = unifiedDiff(['a', '0'].join('\n'), [...zeros, 'b'].join('\n'))
  assert.match(text, /^@@ -1,2 \+1,201 @@\n-a\n-0\n\+0\n/)
})
