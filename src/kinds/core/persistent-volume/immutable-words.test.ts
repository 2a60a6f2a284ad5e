import assert from 'node:assert/strict'
import { test } from 'node:test'
import { immutableWords } from './immutable-words.ts'

test('what must not change is told with the difference since 1.19', () => {
  const difference = () => '- a'
  const words = (release: number, named?: boolean) =>
    immutableWords(release, 'spec', 'is immutable', difference, named)
  assert.deepEqual(
    [words(18), words(18, true), words(19)],
    ['is immutable', 'spec is immutable', 'spec is immutable\n- a'],
  )
})
