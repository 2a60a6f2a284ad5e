import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { deletion, numbersPerWrite } from './protocol.ts'
import { createDatabase } from './schema.ts'
import { Transaction } from './transaction.ts'

/** One write: key, expected revision, value (undefined: a deletion), deadline and TTL. */
type Write = [key: string, ifRevision: number, value?: string, deadline?: number, ttl?: number]

const directory = mkdtempSync(join(tmpdir(), 'binnacle-transaction-'))
const file = join(directory, 'state.db')
createDatabase(file)
const database = new DatabaseSync(file)
after(() => {
  database.close()
  rmSync(directory, { recursive: true })
})

/** Every row starts with an empty database: changes are rolled back. */
function check(name: string, body: (transaction: Transaction) => void): void {
  test(name, () => {
    database.exec('BEGIN')
    try {
      body(new Transaction(database))
    } finally {
      database.exec('ROLLBACK')
    }
  })
}

/** The assigned revisions; a rejected write has the revision that prevented it. */
function write(transaction: Transaction, ...writes: Write[]): (number | string)[] {
  const numbers = new Float64Array(writes.length * numbersPerWrite)
  const values: Buffer[] = []
  for (const [i, [, ifRevision, value, deadline = 0, ttl = 0]] of writes.entries()) {
    const bytes = Buffer.from(value ?? '')
    values.push(bytes)
    numbers.set([ifRevision, value === undefined ? deletion : bytes.length, deadline, ttl], i * 4)
  }
  const keys = writes.map(([key]) => key)
  const bytes = Buffer.concat(values)
  const { revisions, refused } = transaction.write({ kind: 'write', keys, numbers, bytes })
  const stated: (number | string)[] = [...revisions]
  for (const { index, revision, bytes } of refused) {
    assert.equal(stated[index], 0)
    stated[index] = bytes ? `${revision} ${Buffer.from(bytes)}` : `${revision} nothing`
  }
  return stated
}

/** Every row of the log as `revision<previous key=value`; a deletion is `key-`. */
function log(): string[] {
  const rows = database.prepare('SELECT * FROM log ORDER BY revision').all() as Record<
    string,
    never
  >[]
  return rows.map(({ revision, previous, deleted, key, value }) => {
    assert.equal(deleted === 1, value === null)
    return `${revision}<${previous} ${key}${value === null ? '-' : `=${Buffer.from(value)}`}`
  })
}

/** Rows written since the database was opened. */
const written = () =>
  (database.prepare('SELECT total_changes() AS rows').get() as { rows: number }).rows

describe('writes', () => {
  check('the first write has revision 2, and each further one the next', (transaction) => {
    assert.equal(transaction.newestRevision(), 1)
    assert.deepEqual(write(transaction, ['/a', 0, 'x'], ['/b', 0, 'yy'], ['/c', 0, '']), [2, 3, 4])
    assert.deepEqual(log(), ['2<0 /a=x', '3<0 /b=yy', '4<0 /c='])
    assert.equal(transaction.newestRevision(), 4)
  })
  check("a row refers to its key's previous row, also for deletions and recreated keys", (t) => {
    write(t, ['/a', 0, 'x'], ['/a', 2, 'y'], ['/a', 3], ['/a', 0, 'z'])
    assert.deepEqual(log(), ['2<0 /a=x', '3<2 /a=y', '4<3 /a-', '5<4 /a=z'])
  })

  const made: Write[] = [['/a', 0, 'x']]
  const changed: Write[] = [...made, ['/a', 2, 'y']]
  const deleted: Write[] = [...made, ['/a', 2]]
  const refused: [name: string, before: Write[], write: Write, stated: string][] = [
    ['making what is there', made, ['/a', 0, 'y'], '2 x'],
    ['a revision passed', changed, ['/a', 2, 'z'], '3 y'],
    ['a revision that is yet to come', made, ['/a', 3, 'y'], '2 x'],
    ['deleting at a revision passed', changed, ['/a', 2], '3 y'],
    ['changing what never was', [], ['/a', 2, 'x'], '0 nothing'],
    ['changing what is deleted', deleted, ['/a', 2, 'y'], '0 nothing'],
    ['changing at the revision of the deletion', deleted, ['/a', 3, 'y'], '0 nothing'],
    ['deleting what never was', [], ['/a', 0], '0 nothing'],
    ['deleting twice', deleted, ['/a', 0], '0 nothing'],
    ['making what is there and empty', [['/a', 0, '']], ['/a', 0, 'y'], '2 '],
  ]
  for (const [name, before, requested, stated] of refused) {
    check(`rejected: ${name}`, (transaction) => {
      write(transaction, ...before)
      const rows = log()
      assert.deepEqual(write(transaction, requested), [stated])
      assert.deepEqual(log(), rows)
    })
  }

  check(
    'a rejected write takes no revision, and the next write gets its own bytes',
    (transaction) => {
      write(transaction, ['/a', 0, 'first'])
      const stated = write(transaction, ['/b', 0, 'b'], ['/a', 0, 'second'], ['/c', 0, 'c'])
      assert.deepEqual(stated, [3, '2 first', 4])
      assert.deepEqual(log(), ['2<0 /a=first', '3<0 /b=b', '4<0 /c=c'])
    },
  )
  check('a write sees earlier writes of its request', (transaction) => {
    assert.deepEqual(
      write(transaction, ['/a', 0, 'x'], ['/a', 0, 'y'], ['/a', 2], ['/a', 0, 'z']),
      [2, '2 x', 3, 4],
    )
  })
  check('keys with a common prefix are different keys', (transaction) => {
    assert.deepEqual(
      write(transaction, ['/a', 0, 'x'], ['/a/b', 0, 'y'], ['/A', 0, 'z']),
      [2, 3, 4],
    )
  })
})

describe('a rolled back transaction', () => {
  check('its revisions are assigned again after the rollback is reported', (transaction) => {
    write(transaction, ['/a', 0, 'x'])
    database.exec('SAVEPOINT inner')
    write(transaction, ['/b', 0, 'y'], ['/c', 0, 'z'])
    database.exec('ROLLBACK TO inner')
    transaction.reset()
    assert.deepEqual(write(transaction, ['/b', 0, 'y']), [3])
  })
})

describe('expiry', () => {
  check('only due keys are deleted, and the next deadline is returned', (transaction) => {
    write(transaction, ['/a', 0, 'x', 100, 1], ['/b', 0, 'y', 101, 50], ['/c', 0, 'z'])
    assert.equal(transaction.nextDeadline(), 100)
    assert.deepEqual(transaction.expire(99), { keys: [], revisions: [], nextDeadline: 100 })
    assert.deepEqual(transaction.expire(100), { keys: ['/a'], revisions: [5], nextDeadline: 101 })
    assert.deepEqual(log().slice(3), ['5<2 /a-'])
    const last = transaction.expire(1000)
    assert.deepEqual(last, { keys: ['/b'], revisions: [6], nextDeadline: undefined })
    assert.equal(transaction.nextDeadline(), undefined)
  })
  check('a rewritten key has its new TTL, or none', (transaction) => {
    write(transaction, ['/a', 0, 'x', 100, 50], ['/b', 0, 'y', 100, 50])
    write(transaction, ['/a', 2, 'x', 200, 50], ['/b', 3, 'y'])
    assert.deepEqual(transaction.expire(150), { keys: [], revisions: [], nextDeadline: 200 })
    assert.deepEqual(transaction.expire(200).keys, ['/a'])
  })
  check('a deleted key does not expire again, and neither does its successor', (transaction) => {
    write(transaction, ['/a', 0, 'x', 100, 50], ['/b', 0, 'y', 100, 50])
    write(transaction, ['/a', 2], ['/b', 3], ['/b', 0, 'new'])
    assert.deepEqual(transaction.expire(100).keys, [])
    assert.equal(log().length, 5)
  })
  check('compacted rows are skipped', (transaction) => {
    write(transaction, ['/a', 0, 'x', 100, 50], ['/a', 2, 'y'], ['/b', 0, 'z', 100, 50])
    transaction.compact(3)
    transaction.sweep(200)
    assert.deepEqual(transaction.expire(100).keys, ['/b'])
  })
  check('a rejected write leaves no deadline behind', (transaction) => {
    write(transaction, ['/a', 0, 'x'])
    write(transaction, ['/a', 0, 'y', 100, 50])
    assert.equal(transaction.nextDeadline(), undefined)
  })
  check(
    'many expired keys are deleted in several transactions, the earliest first',
    (transaction) => {
      for (let i = 0; i < 201; i++) write(transaction, [`/${i}`, 0, 'x', 1000 - i, 50])
      const first = transaction.expire(1000)
      assert.equal(first.keys.length, 200)
      assert.deepEqual([first.keys[0], first.nextDeadline], ['/200', 1000])
      assert.deepEqual(transaction.expire(1000).keys, ['/0'])
    },
  )
  check('an adjusted clock shifts every deadline', (transaction) => {
    write(transaction, ['/a', 0, 'x', 100, 50], ['/b', 0, 'y', 300, 250])
    assert.deepEqual(transaction.shift(1000), { keys: [], revisions: [], nextDeadline: 1100 })
    assert.deepEqual(transaction.shift(-1050), { keys: [], revisions: [], nextDeadline: 50 })
    assert.deepEqual(transaction.expire(250).keys, ['/a', '/b'])
  })
  check('after a start no deadline is later than now plus its TTL', (transaction) => {
    write(transaction, ['/a', 0, 'x', 900, 50], ['/b', 0, 'y', 120, 50], ['/c', 0, 'z', 10, 50])
    assert.deepEqual(transaction.settle(100), { keys: [], revisions: [], nextDeadline: 10 })
    assert.deepEqual(transaction.expire(120).keys, ['/c', '/b'])
    assert.equal(transaction.nextDeadline(), 150)
  })
})

describe('compaction', () => {
  const history: Write[] = [
    ['/a', 0, 'x'],
    ['/a', 2, 'y'],
    ['/b', 0, 'z'],
    ['/b', 4],
    ['/a', 3, 'w'],
  ]
  const rows = ['2<0 /a=x', '3<2 /a=y', '4<0 /b=z', '5<4 /b-', '6<3 /a=w']
  const kept: [upTo: number, kept: string[]][] = [
    [0, rows],
    [2, rows],
    [3, ['3<2 /a=y', '4<0 /b=z', '5<4 /b-', '6<3 /a=w']],
    [4, ['3<2 /a=y', '4<0 /b=z', '5<4 /b-', '6<3 /a=w']],
    [5, ['3<2 /a=y', '6<3 /a=w']],
    [6, ['6<3 /a=w']],
  ]
  for (const [upTo, left] of kept) {
    check(`up to ${upTo}: rows that were current then or later stay`, (transaction) => {
      write(transaction, ...history)
      transaction.compact(upTo)
      assert.deepEqual(log(), rows)
      assert.equal(transaction.compacted(), upTo)
      const swept = { isMore: false, rows: rows.length - left.length }
      assert.deepEqual(transaction.sweep(200), swept)
      assert.deepEqual(log(), left)
    })
  }
  check('old rows are deleted in steps; the result says whether more remain', (transaction) => {
    write(transaction, ...history)
    transaction.compact(6)
    const seen = []
    for (let i = 0; i < 4; i++) seen.push([transaction.sweep(2).isMore, log().length])
    assert.deepEqual(seen, [
      [true, 5],
      [true, 4],
      [false, 1],
      [false, 1],
    ])
    const before = written()
    transaction.sweep(2)
    assert.equal(written(), before)
  })
  check('a second compaction continues where the first ended', (transaction) => {
    write(transaction, ...history)
    transaction.compact(3)
    transaction.sweep(200)
    transaction.compact(6)
    assert.equal(transaction.sweep(200).isMore, false)
    assert.deepEqual(log(), ['6<3 /a=w'])
  })
  check('revisions continue after the compacted ones', (transaction) => {
    write(transaction, ['/a', 0, 'x'], ['/a', 2])
    transaction.compact(3)
    transaction.sweep(200)
    assert.deepEqual(log(), [])
    const next = new Transaction(database)
    assert.equal(next.newestRevision(), 3)
    assert.deepEqual(write(next, ['/a', 0, 'y']), [4])
    assert.deepEqual(log(), ['4<0 /a=y'])
  })
  check('a probe writes and changes nothing', (transaction) => {
    write(transaction, ...history)
    transaction.compact(4)
    const before = written()
    transaction.probe()
    assert.ok(written() > before)
    assert.deepEqual([transaction.compacted(), log()], [4, rows])
  })
})
