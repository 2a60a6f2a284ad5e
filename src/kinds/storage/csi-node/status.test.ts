/** Writes of a CSINode and of its status, with and without the gate of storage health. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Context } from '#kinds/kind.ts'
import { clearNodeStatus, keepNodeStatus, nodeStatus } from './status.ts'

const context = (...gates: string[]) =>
  ({ release: 37, feature: (name: string) => gates.includes(name) }) as unknown as Context
const node = (...storageHealth: Loose[]): KubeObject =>
  ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name: 'n', resourceVersion: '1' },
    spec: { drivers: [] },
    status: storageHealth.length === 0 ? {} : { storageHealth },
  }) as unknown as KubeObject

test('a write to the main resource keeps the status', () => {
  const made = node({ name: 'a' })
  clearNodeStatus(made)
  assert.deepEqual(made.status, {})
  const next = node({ name: 'b' })
  keepNodeStatus(next, node({ name: 'a' }))
  assert.deepEqual(next.status, { storageHealth: [{ name: 'a' }] })
  const older = { metadata: { name: 'n' } } as KubeObject
  clearNodeStatus(older)
  keepNodeStatus(older, { metadata: { name: 'n' } } as KubeObject)
  assert.deepEqual(older, { metadata: { name: 'n' } })
})

test('without its gate only a node with health reports health', () => {
  const written = (old: KubeObject, ...gates: string[]) => {
    const next = node({ name: 'b' })
    next.spec = { drivers: [{ name: 'a' }] }
    nodeStatus.prepareForUpdate?.(next, old, context(...gates))
    assert.deepEqual(next.spec, { drivers: [] })
    return next.status
  }
  const health = { storageHealth: [{ name: 'b' }] }
  assert.deepEqual(written(node()), {})
  assert.deepEqual(written(node({ name: 'a' })), health)
  assert.deepEqual(written(node(), 'CSIVolumeHealth'), health)
})

const condition = { status: 'StorageDegraded', reason: 'Slow' }
const many = Array.from({ length: 17 }, () => condition)
const at = 'status.storageHealth[0]'
const first = `${at}.healthConditions[0]`
const rows: [what: string, health: Loose[], errors: string[]][] = [
  ['valid health', [{ name: 'a', healthConditions: [condition] }], []],
  ['no name', [{}], [`${at}.name: Required value`]],
  [
    'a driver twice',
    [{ name: 'a' }, { name: 'a' }],
    ['status.storageHealth[1]: Duplicate value: "a"'],
  ],
  [
    'too many conditions',
    [{ name: 'a', healthConditions: many }],
    [`${at}.healthConditions: Too many: 17: must have at most 16 items`],
  ],
  [
    'unknown values',
    [{ name: 'a', healthConditions: [{ status: 'x', accessMode: 'y', volumeMode: '' }] }],
    [
      `${first}.status: Unsupported value: "x": supported values: "StorageDegraded", "StorageUnreachable"`,
      `${first}.reason: Required value`,
      `${first}.accessMode: Unsupported value: "y": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`,
      `${first}.volumeMode: Unsupported value: "": supported values: "Block", "Filesystem"`,
    ],
  ],
  [
    'long texts',
    [
      {
        name: 'a',
        healthConditions: [{ ...condition, reason: 'r'.repeat(257), message: 'm'.repeat(1025) }],
      },
    ],
    [
      `${first}.reason: Too long: may not be more than 256 bytes`,
      `${first}.message: Too long: may not be more than 1024 bytes`,
    ],
  ],
]
for (const [what, health, errors] of rows)
  test(`the status of a node: ${what}`, () => {
    const found = nodeStatus.validateUpdate?.(node(...health), node(), context()) ?? []
    assert.deepEqual(
      found.map(({ field, message }) => `${field}: ${message}`),
      errors,
    )
  })
