import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { writePrivateFile } from './private-files.ts'

let place: string
before(() => {
  place = mkdtempSync(join(tmpdir(), 'binnacle-private-'))
})
after(() => rmSync(place, { recursive: true }))

test('a key is not written into a file that another process put in its place', () => {
  const file = join(place, 'a.key')
  writeFileSync(`${file}.${process.pid}.new`, '', { mode: 0o666 })
  writePrivateFile(file, 'secret')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const theirs = join(place, 'theirs')
  writeFileSync(theirs, '')
  symlinkSync(theirs, `${file}.${process.pid}.new`)
  writePrivateFile(file, 'other')
  assert.equal(readFileSync(file, 'utf8'), 'other')
  assert.equal(readFileSync(theirs, 'utf8'), '')
})
