import assert from 'node:assert/strict'
import test from 'node:test'
import type { KubeObject, OwnerReference } from '#api/object-meta.ts'
import { dedupOwnerReferences } from './owner-references.ts'

const owner = (uid: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'Pod',
  name: uid,
  uid,
  ...more,
})

test('a duplicate owner is removed with a warning', () => {
  const cases: [references: OwnerReference[], kept: string, warnings: number, release?: number][] =
    [
      [[], '', 0],
      [[owner('a')], 'a', 0],
      [[owner('a'), owner('b')], 'a b', 0],
      [[owner('a'), owner('a'), owner('b'), owner('a')], 'a b', 1],
      [[owner('a'), owner('a', { controller: true })], 'a a', 0],
      [[owner('a'), owner('a')], 'a a', 0, 19],
    ]
  for (const [ownerReferences, kept, count, release = 20] of cases) {
    const object = { metadata: { ownerReferences } } as KubeObject
    const warnings: string[] = []
    dedupOwnerReferences({ release }, object, warnings, false)
    assert.equal(object.metadata.ownerReferences?.map(({ uid }) => uid).join(' '), kept)
    assert.equal(warnings.length, count)
  }
  const warnings: string[] = []
  dedupOwnerReferences(
    { release: 22 },
    { metadata: { ownerReferences: [owner('a'), owner('a')] } } as KubeObject,
    warnings,
    true,
  )
  assert.match(warnings[0], /after mutating admission happens; .* duplicate UID\(s\) observed: a$/)
})
