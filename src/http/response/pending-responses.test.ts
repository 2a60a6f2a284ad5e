import assert from 'node:assert/strict'
import test from 'node:test'
import type { Wire } from '#http/exchange.ts'
import { PendingResponses } from './pending-responses.ts'

test('responses are counted until their clients have read them', () => {
  const held = new PendingResponses(20)
  const closing: (() => void)[] = []
  const wire = { onClose: (listener: () => void) => void closing.push(listener) } as Wire
  const rows: [bytes: number, isMuch: boolean][] = [
    [10, false],
    [10, false],
    [1, true],
  ]
  for (const [bytes, isMuch] of rows) {
    held.add(wire, bytes)
    assert.equal(held.isMuch, isMuch)
  }
  assert.equal(closing.length, 1, 'one listener for all that one client holds')
  closing.shift()?.()
  assert.equal(held.isMuch, false)
  for (const close of closing) close()
  held.add(wire, 21)
  assert.equal(held.isMuch, true)
  // A wire that does not report its end is not counted.
  closing.splice(0).at(-1)?.()
  held.add({} as Wire, 100)
  assert.equal(held.isMuch, false)
})
