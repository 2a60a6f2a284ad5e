import assert from 'node:assert/strict'
import test from 'node:test'
import { Turns } from './turns.ts'

test('others have their turn while long work is done', async () => {
  let others = 0
  const timer = setInterval(() => others++, 1)
  const turns = new Turns()
  const turnsMs: number[] = []
  for (let began = performance.now(); turnsMs.length < 5; ) {
    if (!turns.over) continue
    turnsMs.push(performance.now() - began)
    await turns.next()
    began = performance.now()
  }
  clearInterval(timer)
  // The shortest: a busy machine makes turns longer, nothing makes them shorter.
  const shortest = Math.min(...turnsMs)
  assert.ok(shortest > 9 && shortest < 100, `turns of ${turnsMs} ms`)
  assert.ok(others > 0, 'a timer had its turn')
})
