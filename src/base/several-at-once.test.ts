import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { test } from 'node:test'
import { severalAtOnce } from './several-at-once.ts'

const rows: [items: number[], countMax: number, together: number][] = [
  [[], 3, 0],
  [[1, 2], 3, 2],
  [[1, 2, 3, 4, 5, 6, 7], 3, 3],
  [[1, 2, 3], 1, 1],
]
for (const [items, countMax, together] of rows)
  test(`${items.length} things, ${countMax} at once`, async () => {
    const begun: number[] = []
    let running = 0
    let most = 0
    await severalAtOnce(items, countMax, async (item) => {
      begun.push(item)
      most = Math.max(most, ++running)
      await setImmediate()
      running--
    })
    assert.deepEqual({ begun, running, most }, { begun: items, running: 0, most: together })
  })

test('an error rejects the promise', async () => {
  const work = async (item: number) => {
    await setImmediate()
    if (item === 2) throw new Error('two')
  }
  await assert.rejects(severalAtOnce([1, 2, 3, 4], 2, work), { message: 'two' })
})
