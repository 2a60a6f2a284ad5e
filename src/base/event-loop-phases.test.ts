import assert from 'node:assert/strict'
import test from 'node:test'
import { runInReadPhase, runInNotifyPhase, runInWritePhase } from './event-loop-phases.ts'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('responses, notifications, reads and later writes run in this order in one turn', async () => {
  const done: string[] = []
  runInNotifyPhase(() => {
    done.push('notify')
    runInReadPhase(() => {
      done.push('read')
      runInWritePhase(() => done.push('write what was seen'))
    })
  })
  runInWritePhase(() => done.push('write an answer'))
  assert.deepEqual(done, [], 'nothing before the turn ends')
  await nextTurn()
  assert.deepEqual(done, ['write an answer', 'notify', 'read', 'write what was seen'])
})

test('an action that always has more to write does not block the event loop', async () => {
  let writes = 0
  const more = () => {
    if (++writes < 100) runInWritePhase(more)
  }
  runInWritePhase(more)
  let turns = 0
  for (; writes < 100 && turns < 1000; turns++) await nextTurn()
  assert.ok(turns >= 50, `${turns} turns for 100 writes`)
})

test('an action that notifies or reads again does so in the next turn', async () => {
  for (const atTurnEnd of [runInNotifyPhase, runInReadPhase]) {
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
