import assert from 'node:assert/strict'
import test from 'node:test'
import { Turns } from './turns.ts'

test('others have their turn while long work is done', async () => {
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
  // The shortest: a busy machine makes turns longer, nothing makes them shorter.
  const shortest = Math.min(...turnsMs)
  assert.ok(shortest > 9 && shortest < 100, `turns of ${turnsMs} ms`)
  assert.ok(others > 0, 'a timer had its turn')
})

test('of several works one has a turn between two of others', async () => {
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
