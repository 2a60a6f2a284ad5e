import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from './field-path.ts'
import { validateOwnerReferences } from './owner-reference-rules.ts'
import { inWordsOf } from './release-words.ts'

const path = FieldPath.of('owners')
const empty = { apiVersion: 'a/b/c', kind: 'K', name: 'n', uid: '' }
const controllers = ['x', 'y'].map((name) => ({
  apiVersion: 'v1',
  kind: 'K',
  name,
  uid: name,
  controller: true,
}))

function reported(
  owners: Parameters<typeof validateOwnerReferences>[0],
  release: number,
): string[] {
  const errors = inWordsOf(validateOwnerReferences(owners, path), release)
  return errors.map(({ field, message }) => `${field}: ${message}`)
}

const version = 'owners.apiVersion: Invalid value: "a/b/c": version must not be empty'
const rows: [release: number, expected: string[]][] = [
  [33, [version, 'owners.uid: Invalid value: "": uid must not be empty']],
  [34, [version, 'owners.uid: Invalid value: "": must not be empty']],
  [36, [version, 'owners.uid: Invalid value: "": must not be empty']],
  [
    37,
    [
      'owners[0].apiVersion: Invalid value: "a/b/c": must be <group>/<version> or <version>',
      'owners[0].uid: Required value: must not be empty',
    ],
  ],
]
for (const [release, expected] of rows) {
  test(`1.${release}: an owner without an uid`, () =>
    assert.deepEqual(reported([empty], release), expected))
}

test('the error about two controllers contains their kinds since 1.26', () => {
  const names = (release: number) =>
    /references for (.*)$/.exec(reported(controllers, release)[0])?.[1]
  assert.equal(names(25), 'x and y')
  assert.equal(names(26), 'K/x and K/y')
})
