import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { availableBytes, freeBytes, logBytesFor, sharesOf } from './disk-space.ts'

const place = mkdtempSync(join(tmpdir(), 'disk-space-'))
after(() => rmSync(place, { recursive: true }))

const mebibyte = 1024 * 1024

test('how a disk is divided', () => {
  const rows: [disk: number, log: number, reserve: number, short: number][] = [
    [1, 0.125, 0.375, 0.75],
    [32, 1, 3, 6],
    [48, 1.5, 4.5, 9],
    [320, 10, 30, 60],
    [512, 16, 48, 96],
    [100_000, 16, 48, 96],
  ]
  for (const [disk, log, reserve, short] of rows) {
    const logBytes = logBytesFor(disk * mebibyte)
    const { reserveBytes, shortBytes } = sharesOf(logBytes)
    const found = [logBytes, reserveBytes, shortBytes].map((bytes) => bytes / mebibyte)
    assert.deepEqual(found, [log, reserve, short], `${disk} MiB`)
  }
})

test('the available space includes the database itself', () => {
  const file = join(place, 'state.db')
  writeFileSync(file, Buffer.alloc(mebibyte))
  writeFileSync(`${file}-wal`, Buffer.alloc(2 * mebibyte))
  const others = availableBytes(file) - 3 * mebibyte - freeBytes(place)
  // Other programs use the same disk.
  assert.ok(Math.abs(others) < 1024 * mebibyte, `${others}`)
})
