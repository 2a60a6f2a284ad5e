/**
 * The conditions during the deletion of a definition, for each outcome of deleting its instances.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { ApiClient } from '#client/client.ts'
import type { Resource } from '#kinds/kind.ts'
import { cleanupFinalizer, finalize } from './finalize.ts'

const stored = { group: 'g', version: 'v1', plural: 'gears' }
/** The served version differs from the stored one, and only a webhook can convert to it. */
const resource = { kinds: [{ ...stored, version: 'v2' }], stored } as unknown as Resource
const unserved = { kinds: [], stored } as unknown as Resource
const held = { metadata: { name: 'held', namespace: 'n' } }
const other = { metadata: { name: 'other', namespace: 'm' } }

interface Row {
  readonly name: string
  readonly established?: boolean
  readonly resource: Resource | undefined
  /** The instances at each check; the last entry is repeated. */
  readonly lists: readonly (object[] | Error)[]
  /** Why instances cannot be deleted, by namespace. */
  readonly refused?: Readonly<Record<string, string>>
  readonly ends: readonly [status: string, reason: string, message: string]
}

const rows: readonly Row[] = [
  {
    name: 'all objects are deleted',
    resource,
    lists: [[held], []],
    ends: ['False', 'InstanceDeletionCompleted', 'removed all instances'],
  },
  {
    name: 'all objects are deleted, though no version is served',
    resource: unserved,
    lists: [[held], []],
    ends: ['False', 'InstanceDeletionCompleted', 'removed all instances'],
  },
  {
    name: 'one that stays holds it',
    resource,
    lists: [[held]],
    ends: [
      'True',
      'InstanceDeletionCheck',
      'could not confirm zero CustomResources remaining: timed out waiting for the condition',
    ],
  },
  {
    name: 'its objects cannot be read',
    resource,
    lists: [new Error('no conversion')],
    ends: ['True', 'InstanceDeletionFailed', 'could not list instances: no conversion'],
  },
  {
    name: 'its objects cannot be read any more',
    resource,
    lists: [[held], new Error('no conversion')],
    ends: [
      'True',
      'InstanceDeletionCheck',
      'could not confirm zero CustomResources remaining: no conversion',
    ],
  },
  {
    name: 'its objects in one namespace cannot be deleted',
    resource,
    lists: [[held, other]],
    refused: { n: 'no' },
    ends: ['True', 'InstanceDeletionFailed', 'could not issue all deletes: no'],
  },
  {
    name: 'none of its objects can be deleted',
    resource,
    lists: [[held, held, other]],
    refused: { n: 'no', m: 'never' },
    ends: ['True', 'InstanceDeletionFailed', 'could not issue all deletes: [no, never]'],
  },
  {
    name: 'it never had any',
    established: false,
    resource,
    lists: [],
    ends: ['False', 'NeverEstablished', 'resource was never established'],
  },
  {
    name: 'its names were never its own',
    established: false,
    resource: undefined,
    lists: [],
    ends: ['False', 'NeverEstablished', 'resource was never established'],
  },
  {
    name: 'its objects would be those of a built-in kind',
    resource: undefined,
    lists: [],
    ends: [
      'False',
      'OverlappingBuiltInResource',
      'instances overlap with built-in resources in storage',
    ],
  },
]

for (const { name, established = true, resource: served, lists, refused, ends } of rows) {
  test(`a definition is deleted: ${name}`, async () => {
    const written: KubeObject[] = []
    const deleted: string[] = []
    const limits: (number | undefined)[] = []
    let looks = 0
    const client = {
      async list(_ref: unknown, _namespace: unknown, { limit }: { limit?: number }) {
        limits.push(limit)
        const items = lists[Math.min(looks++, lists.length - 1)]
        if (items instanceof Error) throw items
        return { items }
      },
      async deleteCollection(_ref: unknown, namespace: string) {
        deleted.push(namespace)
        const why = refused?.[namespace]
        if (why !== undefined) throw new Error(why)
      },
    } as unknown as ApiClient
    const status = { conditions: [{ type: 'Established', status: established ? 'True' : 'False' }] }
    const definition = {
      metadata: { name: 'gears.g', finalizers: [cleanupFinalizer] },
      status,
    } as unknown as KubeObject
    const done = finalize(definition, {
      remover: (kind) => {
        assert.equal(kind, stored)
        return client
      },
      resource: served,
      now: () => '2020-01-01T00:00:00Z',
      sleep: async () => {},
      writeStatus: async (next) => {
        written.push(structuredClone(next))
        return next
      },
    })
    if (ends[0] === 'True') await assert.rejects(done, { message: ends[2] })
    else await done
    const reported = written.map((one) =>
      one.status.conditions.find(({ type }: Loose) => type === 'Terminating'),
    )
    assert.equal(reported[0].reason, 'InstanceDeletionInProgress')
    const last = reported.at(-1) as Loose
    assert.deepEqual([last.status, last.reason, last.message], ends)
    // Only the first check lists all instances: many may remain for up to a minute.
    assert.ok(limits.every((limit, look) => limit === (look === 0 ? undefined : 1)))
    const first: Loose[] = Array.isArray(lists[0]) ? lists[0] : []
    assert.deepEqual(deleted, [...new Set(first.map(({ metadata }) => metadata.namespace))])
    const finalizers = written.at(-1)?.metadata.finalizers
    assert.deepEqual(finalizers, ends[0] === 'True' ? [cleanupFinalizer] : undefined)
  })
}
