import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyRange } from '#storage/storage.ts'
import { RemainingMemo } from './remaining-memo.ts'

/**
 * Reads pages of a range of `total` keys. Returns the remaining number after each page, and how
 * often it was counted.
 */
function paged(memo: RemainingMemo, total: number, pageSize: number, at: number, end = 'z') {
  const remaining: number[] = []
  let counts = 0
  let range: KeyRange = { start: '', end }
  for (let taken = 0; taken < total; taken += pageSize) {
    const rest = { start: `${taken + pageSize}`, end }
    const left = memo.of(range, rest, at, pageSize, () => {
      counts++
      return total - taken - pageSize
    })
    remaining.push(left)
    range = rest
  }
  return { remaining, counts }
}

test('only the first page of a list counts the remaining keys', () => {
  const memo = new RemainingMemo()
  assert.deepEqual(paged(memo, 10, 2, 7), { remaining: [8, 6, 4, 2, 0], counts: 1 })
})

test('lists at another revision or of another range are separate', () => {
  const memo = new RemainingMemo()
  paged(memo, 10, 2, 7)
  assert.deepEqual(paged(memo, 20, 2, 8).remaining.slice(0, 3), [18, 16, 14])
  assert.deepEqual(paged(memo, 6, 2, 7, 'y'), { remaining: [4, 2, 0], counts: 1 })
})

test('a page may be requested twice', () => {
  const memo = new RemainingMemo()
  paged(memo, 10, 2, 7)
  const again = memo.of({ start: '4', end: 'z' }, { start: '6', end: 'z' }, 7, 2, () => -1)
  assert.equal(again, 4)
})

test('of many lists the oldest are evicted, and counted again', () => {
  const memo = new RemainingMemo()
  const next = (at: number) =>
    memo.of({ start: '1', end: 'z' }, { start: '2', end: 'z' }, at, 1, () => -1)
  const begin = (at: number) =>
    memo.of({ start: '', end: 'z' }, { start: '1', end: 'z' }, at, 1, () => 2)
  for (let at = 1; at <= 257; at++) begin(at)
  assert.equal(next(2), 1)
  assert.equal(next(257), 1)
  assert.equal(next(1), -1)
})
