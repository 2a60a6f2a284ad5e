/** If standard output is not read for a while, events wait. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const child = fileURLToPath(new URL('log-sink.child.ts', import.meta.url))

test('a full pipe loses no event', { skip: process.platform === 'win32' }, () => {
  const read = ['-c', '"$0" "$1" | { sleep 1; cat; }', process.execPath, child]
  const { stdout, stderr } = spawnSync('sh', read, { encoding: 'utf8' })
  assert.equal(stderr, '')
  const ids = stdout.trimEnd().split('\n').slice(1)
  assert.deepEqual(
    ids.map((line) => Number.parseInt(line, 10)),
    Array.from({ length: 300 }, (_, i) => i),
  )
})
