import assert from 'node:assert/strict'
import test from 'node:test'
import { Turns } from './turns.ts'

test('other work runs in between the turns of long work', async () => {
  let others = 0
  const timer = setInterval(() => others++, 1)
  let began = performance.now()
  const turns = new Turns()
  const turnsMs: number[] = []
  while (turnsMs.length < 5) {
    if (!turns.over) continue
    turnsMs.push(performance.now() - began)
    // Includes the wait: the next turn may have begun a while before this callback runs.
    began = performance.now()
    await turns.next()
  }
  clearInterval(timer)
  // The shortest turn, because other programs on the machine can only make turns longer.
  const shortest = Math.min(...turnsMs)
  assert.ok(shortest > 9 && shortest < 100, `turns of ${turnsMs} ms`)
  assert.ok(others > 0, 'a timer had its turn')
})

test('of several long jobs, only one has a turn between two event loop iterations', async () => {
  const order: string[] = []
  let isDone = false
  const others = () => {
    order.push('.')
    if (!isDone) setImmediate(others)
  }
  setImmediate(others)
  const work = async (name: string) => {
    const turns = new Turns()
    for (let i = 0; i < 3; i++) {
      await turns.next()
      order.push(name)
    }
  }
  await Promise.all(['a', 'b', 'c'].map(work))
  isDone = true
  assert.equal(order.filter((name) => name !== '.').join(''), 'abcabcabc')
  assert.doesNotMatch(order.join(''), /[abc]{2}/)
})
