import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ListMemo, memoBytesMax } from './list-memo.ts'

const half = [Buffer.alloc(memoBytesMax / 2)]

test('what is used stays, what is not goes, and nothing over the limit is kept', () => {
  const memo = new ListMemo()
  memo.set('a', half)
  memo.set('b', half)
  assert.equal(memo.get('a'), half)
  memo.set('c', half)
  assert.equal(memo.get('b'), undefined)
  assert.equal(memo.get('a'), half)
  memo.set('huge', [Buffer.alloc(memoBytesMax), Buffer.alloc(1)])
  assert.equal(memo.get('huge'), undefined)
  assert.equal(memo.get('c'), half)
})
