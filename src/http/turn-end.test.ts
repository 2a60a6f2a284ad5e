import assert from 'node:assert/strict'
import test from 'node:test'
import { lookAtTurnEnd, writeAtTurnEnd } from './turn-end.ts'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('answers leave before watches look, and what they write leaves in the same turn', async () => {
  const done: string[] = []
  lookAtTurnEnd(() => {
    done.push('look')
    writeAtTurnEnd(() => done.push('write what was seen'))
  })
  writeAtTurnEnd(() => done.push('write an answer'))
  assert.deepEqual(done, [], 'nothing before the turn ends')
  await nextTurn()
  assert.deepEqual(done, ['write an answer', 'look', 'write what was seen'])
})

test('one that always has more to write leaves the turn to others', async () => {
  let writes = 0
  const more = () => {
    if (++writes < 100) writeAtTurnEnd(more)
  }
  writeAtTurnEnd(more)
  let turns = 0
  for (; writes < 100 && turns < 1000; turns++) await nextTurn()
  assert.ok(turns >= 50, `${turns} turns for 100 writes`)
})

test('one that looks again does so in the next turn', async () => {
  let looks = 0
  lookAtTurnEnd(() => {
    looks++
    lookAtTurnEnd(() => looks++)
  })
  await nextTurn()
  assert.equal(looks, 1)
  await nextTurn()
  assert.equal(looks, 2)
})
