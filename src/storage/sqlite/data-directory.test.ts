import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { StorageUnavailable } from '#storage/storage.ts'
import { type MadeLog, makeLog } from './found-log.fixture.ts'
import { inspectDatabase, lockDirectory } from './data-directory.ts'

const place = mkdtempSync(join(tmpdir(), 'binnacle-directory-'))
after(() => rmSync(place, { recursive: true }))

/** A file of `size` bytes that starts like a database of `pages` pages. */
function database(pages: number, size: number, pageSize = 512): Buffer {
  const bytes = Buffer.alloc(size)
  bytes.write('SQLite format 3\0')
  bytes.writeUInt16BE(pageSize, 16)
  bytes.writeUInt32BE(pages, 28)
  return bytes
}

/** A log with a frame for each of these pages, with some bytes cut off its end. */
function log(pages: number[], { cut = 0, ...made }: MadeLog & { cut?: number } = {}): Buffer {
  const bytes = makeLog(
    pages.map((page) => ({ page, commits: true })),
    made,
  )
  return bytes.subarray(0, bytes.length - cut)
}

describe('the state of a database file before SQLite opens it', () => {
  const whole = database(3, 3 * 512)
  const cutShort = database(3, 2 * 512)
  const cases: [name: string, file: Buffer | undefined, log: Buffer | undefined, is: string][] = [
    ['no file', undefined, undefined, 'nothing'],
    ['no file and a log without a byte', undefined, Buffer.alloc(0), 'nothing'],
    ['a log alone', undefined, log([1]), 'it is missing, but its log'],
    ['whole', whole, undefined, 'database'],
    ['whole, with a log of later pages', whole, log([2, 3]), 'database'],
    [
      'longer than its header: extended by an uncommitted transaction',
      database(2, 3 * 512),
      undefined,
      'database',
    ],
    ['its head alone', database(0, 100), undefined, 'database'],
    ['less than its head', database(0, 100).subarray(0, 99), undefined, 'truncated (99 bytes)'],
    ['a page too short', cutShort, undefined, 'truncated (1024 bytes of 1536)'],
    ['a byte too short', whole.subarray(0, 1535), undefined, 'truncated (1535 bytes of 1536)'],
    ['a page too short that the log has', cutShort, log([3]), 'database'],
    [
      'the same in the other order of bytes',
      cutShort,
      log([1, 3], { magic: 0x377f0683 }),
      'database',
    ],
    ['a page too short that the log has not', cutShort, log([1, 2]), 'truncated (1024'],
    ['two pages too short, one of them in the log', database(3, 512), log([3]), 'truncated (512'],
    ['a page too short, and its frame cut in two', cutShort, log([3], { cut: 1 }), 'truncated (1'],
    ['a page too short, and less than the head of a log', cutShort, Buffer.alloc(31), 'truncated'],
    ['a log of another page size', whole, log([3], { pageSize: 1024 }), 'state.db-wal cannot be'],
    ['a log of something else', whole, log([3], { magic: 0x377f0684 }), 'state.db-wal cannot be'],
    ['a page size that is not a power of two', database(1, 1000, 1000), undefined, 'size of 1000'],
    ['a page size too small', database(1, 1000, 256), undefined, 'size of 256'],
    ['no page size', database(1, 1000, 0), undefined, 'size of 0'],
    ['the largest page size, which is written as 1', database(1, 65_536, 1), undefined, 'database'],
    ['the largest page size, cut short', database(1, 65_535, 1), undefined, 'bytes of 65536'],
    ['another file', Buffer.alloc(512, 'x'), undefined, 'does not begin as a database'],
  ]
  for (const [index, [name, bytes, logged, is]] of cases.entries()) {
    test(name, () => {
      const file = join(mkdtempSync(join(place, `${index}-`)), 'state.db')
      if (bytes) writeFileSync(file, bytes)
      if (logged) writeFileSync(`${file}-wal`, logged)
      if (is === 'nothing' || is === 'database') return assert.equal(inspectDatabase(file), is)
      assert.throws(
        () => inspectDatabase(file),
        (error: Error) => {
          assert.ok(error instanceof StorageUnavailable, `${error}`)
          assert.ok(error.message.includes(is), error.message)
          assert.ok(error.message.endsWith('it was left as it is'), error.message)
          return true
        },
      )
    })
  }
})

describe('the lock of a directory', () => {
  test('a second holder gets an error with the name of the first, if known, until the directory is released', () => {
    const directory = join(place, 'made', 'by the lock')
    const lock = lockDirectory(directory)
    const pidFile = join(directory, 'lock.pid')
    assert.equal(readFileSync(pidFile, 'utf8'), `${process.pid}\n`)
    const again = () => lockDirectory(directory)
    const words = `the data directory ${directory} is in use by another server`
    assert.throws(again, { message: `${words} (process ${process.pid})` })
    rmSync(pidFile)
    assert.throws(again, { message: words })
    lock.release()
    lockDirectory(directory).release()
  })
  test('a path that cannot be a directory is reported by name', () => {
    const file = join(place, 'file')
    writeFileSync(file, '')
    assert.throws(() => lockDirectory(file), /the data directory .*file cannot be written: /)
  })
})
