import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { readTarHeader, type TarEntry, tarHeader, tarPaddingBytes } from './tar.ts'

const long = `${'folder/'.repeat(20)}file`
const rows: TarEntry[] = [
  { name: 'state.db', sizeBytes: 1234, mode: 0o600, modifiedSeconds: 1_700_000_000 },
  { name: long, sizeBytes: 0, mode: 0o644, modifiedSeconds: 0 },
  { name: 'huge', sizeBytes: 9_000_000_000, mode: 0o755, modifiedSeconds: 1 },
  {
    name: 'folder/',
    sizeBytes: 0,
    mode: 0o755,
    modifiedSeconds: 0,
    ownerId: 65_532,
    isFolder: true,
  },
  { name: 'link', sizeBytes: 0, mode: 0o777, modifiedSeconds: 0, linksTo: 'state.db' },
]
for (const entry of rows)
  test(`the header of ${entry.name.slice(0, 20)} reads as it was written`, () =>
    assert.deepEqual(readTarHeader(tarHeader(entry)), entry))

test('tar lists the archives that we write', () => {
  const bytes = Buffer.from('hello')
  const entry = { name: long, sizeBytes: bytes.length, mode: 0o600, modifiedSeconds: 0 }
  const zeros = Buffer.alloc(tarPaddingBytes(bytes.length) + 1024)
  const archive = Buffer.concat([tarHeader(entry), bytes, zeros])
  assert.equal(execFileSync('tar', ['-tf', '-'], { input: archive, encoding: 'utf8' }), `${long}\n`)
  assert.equal(execFileSync('tar', ['-xOf', '-'], { input: archive, encoding: 'utf8' }), 'hello')
})

test('a block that is not a header is rejected; zeros end the archive', () => {
  assert.throws(() => readTarHeader(Buffer.alloc(512, 'x')), RangeError)
  assert.equal(readTarHeader(Buffer.alloc(512)), undefined)
})
