import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lookupProblem } from './lookup-problem.ts'

const rows: [name: string, problem: string | undefined][] = [
  ['default', undefined],
  ['A b', undefined],
  ['', 'resource name may not be empty'],
  ['example.com/x', `invalid resource name "example.com/x": [may not contain '/']`],
  ['a%b/c', `invalid resource name "a%b/c": [may not contain '/' may not contain '%']`],
  ['..', `invalid resource name "..": [may not be '..']`],
]
for (const [name, problem] of rows) {
  test(`looking up ${JSON.stringify(name)}`, () => assert.equal(lookupProblem(name), problem))
}
