import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { makeDirectory } from './make-directory.ts'

const folder = mkdtempSync(join(tmpdir(), 'binnacle-directory-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('what is missing is made for its owner alone, what is there stays as it is', () => {
  const inner = join(folder, 'a/b/c')
  makeDirectory(inner)
  for (const path of ['a', 'a/b', 'a/b/c']) {
    assert.equal(statSync(join(folder, path)).mode & 0o777, 0o700, path)
  }
  chmodSync(inner, 0o755)
  makeDirectory(inner)
  assert.equal(statSync(inner).mode & 0o777, 0o755)
})

test('a directory that cannot be made is reported soon', () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  assert.throws(() => makeDirectory(file), { code: 'EEXIST' })
  assert.throws(() => makeDirectory(join(file, 'below')), { code: 'ENOTDIR' })
  // Here Node's own way never comes back.
  if (existsSync('/proc/self')) {
    assert.throws(() => makeDirectory('/proc/binnacle'), { code: 'ENOENT' })
    assert.throws(() => makeDirectory('/proc/binnacle/below'), { code: 'ENOENT' })
  }
})
