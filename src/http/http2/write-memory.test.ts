import assert from 'node:assert/strict'
import test from 'node:test'
import { releaseMemory, acquireMemory } from './write-memory.ts'

const usualBytes = 80 * 1024
const largestBytes = 384 * 1024

test('a buffer fits the write, and is reused', () => {
  for (const [bytes, got] of [
    [16 * 1024, usualBytes],
    [usualBytes, usualBytes],
    [usualBytes + 1, largestBytes],
    [largestBytes, largestBytes],
  ] as const) {
    const memory = acquireMemory(bytes)
    assert.equal(memory.length, got, `${bytes}`)
    const meanwhile = acquireMemory(bytes)
    assert.notEqual(meanwhile, memory, 'two who write at once')
    releaseMemory(memory)
    assert.equal(acquireMemory(bytes), memory)
    releaseMemory(memory)
    releaseMemory(meanwhile)
  }
})

test('unusually small or large buffers are exact and not kept', () => {
  for (const bytes of [0, 9, 16 * 1024 - 1, largestBytes + 1]) {
    const memory = acquireMemory(bytes)
    assert.equal(memory.length, bytes)
    releaseMemory(memory)
    assert.notEqual(acquireMemory(bytes), memory)
  }
})

test('a dozen connections reuse buffers; after a thousand few are kept', () => {
  const turn = (connections: number) => {
    const all = Array.from({ length: connections }, () => acquireMemory(usualBytes))
    for (const memory of all) releaseMemory(memory)
    return all
  }
  const first = new Set(turn(12))
  assert.equal(first.size, 12)
  for (let i = 0; i < 3; i++) for (const memory of turn(12)) assert.ok(first.has(memory))
  const many = new Set(turn(1000))
  const kept = turn(1000).filter((memory) => many.has(memory))
  assert.ok(kept.length * usualBytes <= 2 * 1024 * 1024, `${kept.length} are kept`)
})
