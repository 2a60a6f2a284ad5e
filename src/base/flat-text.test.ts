import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flatText } from './flat-text.ts'

test('the text is the same', () => {
  for (const text of ['', 'a', `kube-api-access-${Math.PI}`, 'ü', '漢字', '😀'.repeat(9)]) {
    assert.equal(flatText(text), text)
  }
})
