/** A file that the disk takes only the beginning of: the old one stays. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const child = fileURLToPath(new URL('private-files.child.ts', import.meta.url))

test('half of a file is none', { skip: process.platform === 'win32' }, () => {
  const place = mkdtempSync(join(tmpdir(), 'binnacle-private-'))
  try {
    const file = join(place, 'a.key')
    writeFileSync(file, 'old')
    // The system takes so much of a file and no more, as a disk does that is full.
    const limited = ['-c', 'ulimit -f 8 && exec "$0" "$@"', process.execPath, child, file]
    const { stdout } = spawnSync('sh', limited, { encoding: 'utf8' })
    assert.match(stdout, /a\.key cannot be written \(EFBIG: file too large\)/)
    assert.equal(readFileSync(file, 'utf8'), 'old')
    assert.deepEqual(readdirSync(place), ['a.key'])
  } finally {
    rmSync(place, { recursive: true })
  }
})
