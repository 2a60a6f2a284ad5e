import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorMs } from '#base/processor-time.fixture.ts'
import { FieldPath } from './field-path.ts'
import { nameIsDnsSubdomain } from './names.ts'
import type { ManagedFieldsEntry, ObjectMeta } from './object-meta.ts'
import { validateObjectMeta, validateObjectMetaUpdate } from './object-meta-rules.ts'
import { invalidObject } from './status-error.ts'

const path = FieldPath.of('metadata')
const namespaced = { namespaced: true, nameRule: nameIsDnsSubdomain }

const show = (errors: { field: string; message: string }[]) =>
  errors.map((error) =>
    `${error.field}: ${error.message}`.replace(/: (?:a|name part must consist).*$/, ''),
  )

const both = { name: 'a', namespace: 'b' }
const owner = (more: object) => ({ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'u', ...more })
const shownOwner = (name: string) =>
  `v1.OwnerReference{APIVersion:"v1", Kind:"Pod", Name:"${name}", UID:"u", Controller:(*bool)(0xc000000000), BlockOwnerDeletion:(*bool)(nil)}`
const managed = (more: Partial<ManagedFieldsEntry>): ManagedFieldsEntry => ({
  apiVersion: 'v1',
  manager: 'm',
  operation: 'Update',
  fieldsType: 'FieldsV1',
  ...more,
})

const created: [string, ObjectMeta, string[]][] = [
  ['a good one', { name: 'a', namespace: 'b' }, []],
  [
    'no name',
    { namespace: 'b' },
    ['metadata.name: Required value: name or generateName is required'],
  ],
  ['no namespace', { name: 'a' }, ['metadata.namespace: Required value']],
  ['a bad name', { name: 'A', namespace: 'b' }, ['metadata.name: Invalid value: "A"']],
  [
    'a bad prefix',
    { name: 'a', generateName: '-', namespace: 'b' },
    ['metadata.generateName: Invalid value: "-"'],
  ],
  [
    'a negative generation',
    { name: 'a', namespace: 'b', generation: -1 },
    ['metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'annotations too large',
    { name: 'a', namespace: 'b', annotations: { a: 'x'.repeat(256 * 1024) } },
    ['metadata.annotations: Too long: may not be more than 262144 bytes'],
  ],
  ['annotation keys in upper case', { name: 'a', namespace: 'b', annotations: { 'A/B': '' } }, []],
  [
    'an empty owner',
    {
      name: 'a',
      namespace: 'b',
      ownerReferences: [{ apiVersion: 'a/b/c', kind: '', name: '', uid: '' }],
    },
    [
      'metadata.ownerReferences[0].apiVersion: Invalid value: "a/b/c": must be <group>/<version> or <version>',
      'metadata.ownerReferences[0].kind: Required value: must not be empty',
      'metadata.ownerReferences[0].name: Required value: must not be empty',
      'metadata.ownerReferences[0].uid: Required value: must not be empty',
    ],
  ],
  [
    'an event as owner',
    {
      name: 'a',
      namespace: 'b',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'x', uid: '1' }],
    },
    [
      'metadata.ownerReferences[0]: Invalid value: v1.OwnerReference{APIVersion:"v1", Kind:"Event", Name:"x", UID:"1", Controller:(*bool)(nil), BlockOwnerDeletion:(*bool)(nil)}: /v1, Kind=Event is disallowed from being an owner',
    ],
  ],
  [
    'finalizers that exclude each other',
    { name: 'a', namespace: 'b', finalizers: ['orphan', 'foregroundDeletion', '-'] },
    [
      'metadata.finalizers: Invalid value: "-"',
      'metadata.finalizers: Invalid value: []string{"orphan", "foregroundDeletion", "-"}: finalizer orphan and foregroundDeletion cannot be both set',
    ],
  ],
  [
    'a manager that cannot be printed',
    { name: 'a', namespace: 'b', managedFields: [{ manager: 'a\u0000' }] },
    [
      'metadata.managedFields[0].operation: Invalid value: "": must be `Apply` or `Update`',
      'metadata.managedFields[0].manager: Invalid value: "a\\x00": invalid character U+0000 (at position 1)',
    ],
  ],
  [
    'a bad label, beside good ones',
    { ...both, labels: { 'a/b/c': 'v', k: '-a', ok: '', 'x.y/z': 'A_1.b' } },
    ['metadata.labels: Invalid value: "a/b/c"', 'metadata.labels: Invalid value: "-a"'],
  ],
  [
    'annotation keys that are wrong',
    { ...both, annotations: { '-a': '' } },
    ['metadata.annotations: Invalid value: "-a"'],
  ],
  ['annotations just not too large', { ...both, annotations: { a: 'x'.repeat(262_143) } }, []],
  ['a bad namespace', { name: 'a', namespace: 'B' }, ['metadata.namespace: Invalid value: "B"']],
  ['a bad cluster', { ...both, clusterName: '1a' }, ['metadata.clusterName: Invalid value: "1a"']],
  ['a cluster', { ...both, clusterName: 'a' }, []],
  ['a prefix with its dash', { namespace: 'b', name: 'a-x', generateName: 'a-' }, []],
  ['finalizers of older clusters', { ...both, finalizers: ['orphan', 'kubernetes', 'x.y/Z'] }, []],
  [
    'one controller',
    { ...both, ownerReferences: [owner({ controller: true }), owner({ controller: false })] },
    [],
  ],
  [
    'three controllers',
    { ...both, ownerReferences: ['x', 'y', 'z'].map((name) => owner({ name, controller: true })) },
    ['y', 'z'].map(
      (name) =>
        `metadata.ownerReferences: Invalid value: []v1.OwnerReference{${['x', 'y', 'z'].map(shownOwner).join(', ')}}: Only one reference can have Controller set to true. Found "true" in references for Pod/x and Pod/${name}`,
    ),
  ],
  [
    'an event of its own group as owner',
    { ...both, ownerReferences: [owner({ apiVersion: 'events.k8s.io/v1', kind: 'Event' })] },
    [],
  ],
  ['an owner of a group', { ...both, ownerReferences: [owner({ apiVersion: 'apps/v1' })] }, []],
  [
    'an owner without a version',
    { ...both, ownerReferences: [owner({ apiVersion: 'apps/' })] },
    [
      'metadata.ownerReferences[0].apiVersion: Invalid value: "apps/": must be <group>/<version> or <version>',
    ],
  ],
  [
    'managers',
    {
      ...both,
      managedFields: [managed({}), managed({ operation: 'Apply' }), managed({ fieldsType: '' })],
    },
    [],
  ],
  [
    'a manager with a long name',
    { ...both, managedFields: [managed({ manager: 'x'.repeat(129) })] },
    ['metadata.managedFields[0].manager: Too long: may not be more than 128 bytes'],
  ],
  [
    'the longest manager',
    { ...both, managedFields: [managed({ manager: ` ~${'x'.repeat(126)}` })] },
    [],
  ],
  [
    'fields of another form',
    { ...both, managedFields: [managed({ fieldsType: 'X' })] },
    ['metadata.managedFields[0].fieldsType: Invalid value: "X": must be `FieldsV1`'],
  ],
  [
    'a long subresource',
    { ...both, managedFields: [managed({ subresource: 'x'.repeat(257) })] },
    ['metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes'],
  ],
  [
    'a manager in letters that can be printed',
    { ...both, managedFields: [managed({ manager: 'ü' })] },
    [],
  ],
]
for (const [what, meta, expected] of created) {
  test(`created with ${what}`, () =>
    assert.deepEqual(show(validateObjectMeta(meta, namespaced, path)), expected))
}

test('a cluster-scoped object has no namespace', () => {
  const rules = { namespaced: false, nameRule: nameIsDnsSubdomain }
  assert.deepEqual(show(validateObjectMeta({ name: 'a', namespace: 'b' }, rules, path)), [
    'metadata.namespace: Forbidden: not allowed on this type',
  ])
})

const old: ObjectMeta = {
  name: 'a',
  namespace: 'b',
  uid: '1',
  resourceVersion: '5',
  generation: 2,
  creationTimestamp: '2021-01-01T00:00:00Z',
}
const updated: [string, ObjectMeta, ObjectMeta, string[]][] = [
  ['nothing', old, old, []],
  [
    'everything',
    { name: 'x', namespace: 'y', uid: '2', generation: 1 },
    old,
    [
      'metadata.resourceVersion: Invalid value: "": must be specified for an update',
      'metadata.generation: Invalid value: 1: must not be decremented',
      'metadata.name: Invalid value: "x": field is immutable',
      'metadata.namespace: Invalid value: "y": field is immutable',
      'metadata.uid: Invalid value: "2": field is immutable',
      'metadata.creationTimestamp: Invalid value: 0001-01-01 00:00:00 +0000 UTC: field is immutable',
    ],
  ],
  [
    'finalizers of an object being deleted',
    { ...old, deletionTimestamp: '2021-01-02T00:00:00Z', finalizers: ['c/b', 'a/b', 'o/o'] },
    { ...old, deletionTimestamp: '2021-01-02T00:00:00Z', finalizers: ['o/o'] },
    [
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/b", "c/b"}',
    ],
  ],
  [
    'deletion time',
    { ...old, deletionTimestamp: '2021-01-02T03:04:05Z', deletionGracePeriodSeconds: 3 },
    old,
    [
      'metadata.deletionTimestamp: Invalid value: 2021-01-02 03:04:05 +0000 UTC: field is immutable',
      'metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable',
    ],
  ],
]
for (const [what, next, before, expected] of updated) {
  test(`changing ${what}`, () =>
    assert.deepEqual(show(validateObjectMetaUpdate(next, before, path)), expected))
}

test('problems that each show the whole list are reported up to the size of a body', () => {
  const ownerReferences = Array.from({ length: 20_000 }, () => owner({ controller: true }))
  const errors = validateObjectMeta({ ...both, ownerReferences }, namespaced, path)
  assert.equal(errors.length, 19_999)
  const { message, details } = invalidObject({ group: '', kind: 'Pod' }, 'a', errors)
  assert.equal(details?.causes?.length, 1)
  assert.ok(message.length < 5_000_000)
})

test('new finalizers of a deleted object with many finalizers are found in one pass', () => {
  const names = (prefix: string) => Array.from({ length: 50_000 }, (_, i) => `a/${prefix}${i}`)
  const old = { ...both, deletionTimestamp: '2021-01-02T00:00:00Z', finalizers: names('a') }
  const next = { ...old, finalizers: names('b') }
  const took = processorMs(() => validateObjectMetaUpdate(next, old, path))
  assert.ok(took < 2000, `${took} ms`)
})

test('metadata may have more errors than a call has arguments', () => {
  const finalizers = Array.from({ length: 150_000 }, () => 'a/b/c')
  assert.ok(validateObjectMeta({ ...both, finalizers }, namespaced, path).length >= 150_000)
})
