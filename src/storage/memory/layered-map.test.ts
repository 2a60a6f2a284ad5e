/** A map and its forks behave as copied plain maps, whatever the order of their changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '#base/seeded.ts'
import { LayeredMap } from './layered-map.ts'

interface Pair {
  readonly layered: LayeredMap<{ value: number }>
  readonly model: Map<string, number>
}

const keys = Array.from({ length: 40 }, (_, i) => `key-${i}`)

function change({ layered, model }: Pair, below: (limit: number) => number): void {
  const key = keys[below(keys.length)] as string
  if (below(3) === 0) {
    layered.delete(key)
    model.delete(key)
  } else {
    const value = below(1000)
    layered.set(key, { value })
    model.set(key, value)
  }
}

for (const seed of [1, 2, 3, 4])
  test(`seed ${seed}: maps and forks of forks hold what copied maps hold`, () => {
    const below = seeded(seed)
    const pairs: Pair[] = [{ layered: new LayeredMap(), model: new Map() }]
    for (let step = 0; step < 600; step++) {
      const pair = pairs[below(pairs.length)] as Pair
      if (below(12) > 0 || pairs.length > 8) change(pair, below)
      else pairs.push({ layered: pair.layered.fork(), model: new Map(pair.model) })
      for (const { layered, model } of pairs)
        for (const key of keys) assert.equal(layered.get(key)?.value, model.get(key), key)
    }
    assert.ok(pairs.length > 5)
  })
