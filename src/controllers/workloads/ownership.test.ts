import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectMeta } from '#api/object-meta.ts'
import { claimOn } from './ownership.ts'

const owned = (uid: string): ObjectMeta => ({
  ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'n', uid, controller: true }],
})
const leaving = { deletionTimestamp: '2030-01-01T00:00:00Z' }
const reference = { apiVersion: 'v1', kind: 'K', name: 'n', uid: 'me' }

const rows: [what: string, ObjectMeta, ObjectMeta, matches: boolean, claim: string][] = [
  ['owned, matching', owned('me'), {}, true, 'keep'],
  ['owned, matching, owner deleted', owned('me'), leaving, true, 'keep'],
  ['owned, not matching', owned('me'), {}, false, 'release'],
  ['owned, not matching, owner deleted', owned('me'), leaving, false, 'ignore'],
  ['owned by another', owned('other'), {}, true, 'ignore'],
  ['orphan, matching', {}, {}, true, 'adopt'],
  ['a dependent without controller', { ownerReferences: [reference] }, {}, true, 'adopt'],
  ['orphan, not matching', {}, {}, false, 'ignore'],
  ['orphan, owner deleted', {}, leaving, true, 'ignore'],
  ['orphan that is deleted', leaving, {}, true, 'ignore'],
]
for (const [what, object, owner, matches, claim] of rows) {
  test(`${what}: ${claim}`, () =>
    assert.equal(claimOn(object, { uid: 'me', ...owner }, matches), claim))
}
