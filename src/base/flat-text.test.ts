import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flatText } from './flat-text.ts'

test('a flat text equals its source', () => {
  for (const text of ['', 'a', `kube-api-access-${Math.PI}`, 'ü', '漢字', '😀'.repeat(9)]) {
    assert.equal(flatText(text), text)
  }
})
