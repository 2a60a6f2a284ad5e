import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DiskBudget } from './disk-budget.ts'

/**
 * With a log of a thousand pages: three are reserved, one of them even from deletions, and less
 * than six is short.
 */
const logBytes = 4096 * 1000

class Disk {
  spare = 0
  looks = 0
  short: boolean[] = []
  readonly budget = new DiskBudget({
    logBytes,
    spareBytes: () => {
      this.looks++
      return this.spare
    },
    short: (isFull) => this.short.push(isFull),
  })

  constructor(spareLogs: number) {
    this.spare = logBytes * spareLogs
  }
}

test('admitted writes, by the free space of the disk', () => {
  const rows: [spareLogs: number, value: number | undefined, isTaken: boolean, short: boolean[]][] =
    [
      [100, 10, true, []],
      [6, 10, true, []],
      [5.99, 10, true, [false]],
      [3.01, 10, true, [false]],
      [3.01, logBytes / 2, false, [true]],
      [3, 10, false, [true]],
      [0, 10, false, [true]],
      [0, undefined, true, []],
    ]
  for (const [spareLogs, value, isTaken, short] of rows) {
    const disk = new Disk(spareLogs)
    const title = `${value} with ${spareLogs} logs left`
    assert.equal(disk.budget.take(value), isTaken, title)
    assert.equal(disk.budget.isFull, !isTaken, title)
    assert.deepEqual(disk.short, short, title)
  }
})

test('a full disk admits only deletions, and not the last one, until more than the reserve is free', () => {
  const disk = new Disk(2)
  assert.equal(disk.budget.take(10), false)
  const rows: [spareLogs: number, deletion: boolean, isRefilled: boolean, value: boolean][] = [
    [2, true, false, false],
    [1, true, false, false],
    [0.99, false, false, false],
    [3.9, true, false, false],
    [4, true, true, true],
    [3.9, true, true, true],
  ]
  for (const [spareLogs, deletion, isRefilled, value] of rows) {
    disk.spare = logBytes * spareLogs
    assert.equal(disk.budget.take(undefined), deletion, `deletion, ${spareLogs}`)
    assert.equal(disk.budget.refill(), isRefilled, `look, ${spareLogs}`)
    assert.equal(disk.budget.take(10), value, `value, ${spareLogs}`)
  }
  assert.equal(disk.short.includes(true), true)
})

test('the disk is checked four times per full log', () => {
  const disk = new Disk(100)
  for (let i = 0; i < 999; i++) disk.budget.take(0)
  assert.equal(disk.looks, 4)
})
