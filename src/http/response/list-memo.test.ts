import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ListMemo, memoBytesMax } from './list-memo.ts'

const third = [Buffer.alloc(memoBytesMax / 3)]

test('used lists stay, unused ones are evicted, and the limit is never exceeded', () => {
  const memo = new ListMemo()
  memo.set('a', third)
  memo.set('b', third)
  assert.equal(memo.get('a'), third)
  memo.set('c', third)
  assert.equal(memo.get('b'), undefined)
  assert.equal(memo.get('a'), third)
  memo.set('huge', [Buffer.alloc(memoBytesMax), Buffer.alloc(1)])
  assert.equal(memo.get('huge'), undefined)
  assert.equal(memo.get('c'), third)
})

test('small lists count with their overhead, so their number is limited', () => {
  const memo = new ListMemo()
  const namesMax = memoBytesMax / 2048
  const names = Array.from({ length: 2 * namesMax }, (_, i) => `list ${i}`)
  for (const name of names) memo.set(name, [Buffer.alloc(1)])
  const kept = names.filter((name) => memo.get(name) !== undefined)
  assert.ok(kept.length > 0 && kept.length < namesMax, String(kept.length))
})

test('a list without items is not cached', () => {
  const memo = new ListMemo()
  memo.set('none', [])
  memo.set('none in protobuf', [Buffer.alloc(0)])
  assert.equal(memo.get('none'), undefined)
  assert.equal(memo.get('none in protobuf'), undefined)
})
