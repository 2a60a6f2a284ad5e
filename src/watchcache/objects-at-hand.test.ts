import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lookAtTurnEnd } from '#base/turn-end.ts'
import type { Entry } from './entry.ts'
import { atHand, keepAtHand } from './objects-at-hand.ts'

const entryOf = (name: string) => ({ name, cut: { bytes: Buffer.from(name) } }) as unknown as Entry

const parse = () => ({ metadata: { name: 'parsed' } })
const turnEnd = () => new Promise<void>(lookAtTurnEnd)
const nextTurn = () => new Promise(setImmediate)

test('an object is at hand for those who look at the end of the turn, and parsed anew afterwards', async () => {
  const entry = entryOf('a')
  const object = { metadata: { name: 'a' } }
  keepAtHand(entry, object)
  await undefined
  assert.equal(atHand(entry, parse).object, object)
  await turnEnd()
  assert.equal(atHand(entry, parse).object, object)
  await nextTurn()
  const parsed = atHand(entry, parse).object
  assert.equal(parsed.metadata.name, 'parsed')
  assert.equal(atHand(entry, parse).object, parsed)
})

test('what one turn keeps is not forgotten with what the turn before kept', async () => {
  const [before, now] = [entryOf('before'), entryOf('now')]
  const object = { metadata: { name: 'now' } }
  keepAtHand(before, { metadata: { name: 'before' } })
  await turnEnd()
  keepAtHand(now, object)
  await nextTurn()
  assert.equal(atHand(now, parse).object, object)
  assert.equal(atHand(before, parse).object.metadata.name, 'parsed')
})

test('a long batch is not held as a whole', () => {
  const first = entryOf('0')
  const object = { metadata: { name: '0' } }
  keepAtHand(first, object)
  for (let i = 1; i <= 2000; i++) keepAtHand(entryOf(String(i)), { metadata: {} })
  assert.notEqual(atHand(first, () => ({ metadata: {} })).object, object)
})
