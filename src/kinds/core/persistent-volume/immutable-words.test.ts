import assert from 'node:assert/strict'
import { test } from 'node:test'
import { immutableWords } from './immutable-words.ts'

const difference = { asGo: () => '- a', unified: () => '@@ -1 +1 @@' }

const rows: [release: number, named: boolean, words: string][] = [
  [18, false, 'is immutable'],
  [18, true, 'spec is immutable'],
  [19, false, 'spec is immutable\n- a'],
  [33, false, 'spec is immutable\n- a'],
  [34, false, 'spec is immutable\n@@ -1 +1 @@'],
]
for (const [release, named, words] of rows) {
  test(`1.${release}${named ? ', with the subject' : ''}`, () => {
    assert.equal(immutableWords(release, 'spec', 'is immutable', difference, named), words)
  })
}
