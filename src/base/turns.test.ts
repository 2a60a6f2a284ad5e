import assert from 'node:assert/strict'
import test from 'node:test'
import { Turns } from './turns.ts'

test('others have their turn while long work is done', async () => {
  let others = 0
  const timer = setInterval(() => others++, 1)
  const turns = new Turns()
  let rests = 0
  const end = performance.now() + 200
  while (performance.now() < end) {
    if (!turns.over) continue
    rests++
    await turns.next()
  }
  clearInterval(timer)
  assert.ok(rests > 2 && rests <= 20, `${rests} rests in 200 ms`)
  assert.ok(others > 0, 'a timer had its turn')
})
