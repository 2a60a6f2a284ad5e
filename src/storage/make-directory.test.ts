import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { makeDirectory } from './make-directory.ts'

const folder = mkdtempSync(join(tmpdir(), 'binnacle-directory-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('missing directories are created private, existing ones stay unchanged', () => {
  const inner = join(folder, 'a/b/c')
  makeDirectory(inner)
  for (const path of ['a', 'a/b', 'a/b/c']) {
    assert.equal(statSync(join(folder, path)).mode & 0o777, 0o700, path)
  }
  chmodSync(inner, 0o755)
  makeDirectory(inner)
  assert.equal(statSync(inner).mode & 0o777, 0o755)
})

test('a directory that cannot be created is reported promptly', () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  assert.throws(() => makeDirectory(file), { code: 'EEXIST' })
  assert.throws(() => makeDirectory(join(file, 'below')), { code: 'ENOTDIR' })
  // Node's recursive option never returns here.
  if (existsSync('/proc/self')) {
    assert.throws(() => makeDirectory('/proc/binnacle'), { code: 'ENOENT' })
    assert.throws(() => makeDirectory('/proc/binnacle/below'), { code: 'ENOENT' })
  }
})
