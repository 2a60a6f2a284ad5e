import assert from 'node:assert/strict'
import { test } from 'node:test'
import { selectControllers } from './all.ts'
import type { Controller } from './controller.ts'

const made = (name: string, more: Partial<Controller> = {}): Controller => ({
  name,
  account: name,
  start: () => {},
  ...more,
})
const known = [made('a'), made('b'), made('optional', { onByDefault: false }), made('new', { since: 20 })]

const cases: [words: string[], release: number, selected: string][] = [
  [['*'], 22, 'a b new'],
  [['*'], 19, 'a b'],
  [['*', '-b'], 22, 'a new'],
  [['*', 'optional'], 22, 'a b optional new'],
  [['b'], 22, 'b'],
  [['-*'], 22, ''],
  [['*', '-*'], 22, ''],
  [[''], 22, ''],
  [[], 22, ''],
  [['-b'], 22, ''],
]
for (const [words, release, expected] of cases) {
  test(`--controllers=${words} of 1.${release} is ${expected || 'none'}`, () => {
    const selected = selectControllers(words, release, known)
    assert.ok(!('error' in selected))
    assert.equal(selected.map(({ name }) => name).join(' '), expected)
  })
}

test('a name that there is not is an error', () => {
  const answer = selectControllers(['*', '-c'], 22, known)
  assert.deepEqual(answer, {
    error: '--controllers: "c" is not in the list of known controllers: a, b, optional, new',
  })
})
