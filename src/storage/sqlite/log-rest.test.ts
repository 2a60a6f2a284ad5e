import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { LogRest } from './log-rest.ts'

const place = mkdtempSync(join(tmpdir(), 'log-rest-'))
after(() => rmSync(place, { recursive: true }))

test('a log beyond its limit is emptied a second after the last write, and retried until it is', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const file = join(place, 'state.db')
  const log = `${file}-wal`
  const seen: string[] = []
  let isInUse = true
  const rest = new LogRest({
    file,
    limitBytes: 10,
    empty: () => {
      seen.push('empty')
      if (!isInUse) truncateSync(log)
    },
    emptied: () => seen.push('emptied'),
  })
  const after = (...expected: string[]) => {
    t.mock.timers.tick(1000)
    assert.deepEqual(seen.splice(0), expected)
  }
  writeFileSync(log, Buffer.alloc(10))
  rest.written()
  after()
  after()
  writeFileSync(log, Buffer.alloc(11))
  after()
  rest.written()
  after()
  rest.written()
  after()
  after('empty')
  after('empty')
  isInUse = false
  after('empty')
  after('emptied')
  after()
  writeFileSync(log, Buffer.alloc(11))
  rest.written()
  rest.stop()
  after()
  after()
})
