import assert from 'node:assert/strict'
import test from 'node:test'
import { lookAtTurnEnd, tellAtTurnEnd, writeAtTurnEnd } from './turn-end.ts'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('answers leave, watches are told, they look, and what they write leaves in the same turn', async () => {
  const done: string[] = []
  tellAtTurnEnd(() => {
    done.push('tell')
    lookAtTurnEnd(() => {
      done.push('look')
      writeAtTurnEnd(() => done.push('write what was seen'))
    })
  })
  writeAtTurnEnd(() => done.push('write an answer'))
  assert.deepEqual(done, [], 'nothing before the turn ends')
  await nextTurn()
  assert.deepEqual(done, ['write an answer', 'tell', 'look', 'write what was seen'])
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

test('one that tells or looks again does so in the next turn', async () => {
  for (const atTurnEnd of [tellAtTurnEnd, lookAtTurnEnd]) {
    let times = 0
    const again = () => {
      if (++times < 3) atTurnEnd(again)
    }
    atTurnEnd(again)
    for (const expected of [1, 2, 3, 3]) {
      await nextTurn()
      assert.equal(times, expected)
    }
  }
})
