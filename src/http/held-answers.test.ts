import assert from 'node:assert/strict'
import test from 'node:test'
import type { Wire } from './exchange.ts'
import { HeldAnswers, heldBytesMin } from './held-answers.ts'

test('large answers count until their clients have taken them, small ones never', () => {
  const held = new HeldAnswers(2 * heldBytesMin)
  const closing: (() => void)[] = []
  const wire = { onClose: (listener: () => void) => void closing.push(listener) } as Wire
  const counts: boolean[] = []
  const add = (bytes: number) => {
    held.add(wire, bytes)
    counts.push(held.isMuch)
  }
  for (let i = 0; i < 5; i++) add(heldBytesMin - 1)
  add(heldBytesMin)
  add(heldBytesMin)
  add(heldBytesMin)
  assert.deepEqual(counts, [false, false, false, false, false, false, false, true])
  closing.shift()?.()
  assert.equal(held.isMuch, false)
  for (const close of closing) close()
  add(3 * heldBytesMin)
  assert.equal(held.isMuch, true)
})
