import assert from 'node:assert/strict'
import test from 'node:test'
import { isBelieved } from './progress.ts'

const cases: [version: string, believed: boolean, isMember?: boolean][] = [
  ['3.3.10', false],
  ['3.4.23', false],
  ['3.4.25', true],
  ['3.5.0', false],
  ['3.5.7', false],
  ['3.5.8', true],
  ['3.5.21+dirty', true],
  ['3.6.0-rc.1', true],
  ['4.0.0', true],
  ['', false],
  ['3.5.13', false, false],
]
for (const [version, believed, isMember = true] of cases) {
  const who = isMember ? 'etcd' : 'another server with version'
  test(`${who} ${version} is ${believed ? '' : 'not '}trusted`, () => {
    assert.equal(isBelieved({ version, isMember }), believed)
  })
}
