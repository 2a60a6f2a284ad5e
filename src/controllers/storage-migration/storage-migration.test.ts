/** StorageVersionMigrations: their conditions, their order, and what happens to objects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { until } from '#base/until.fixture.ts'
import type { ApiClient } from '#client/client.ts'
import { configMap, startCluster } from '#controllers/cluster.suite.ts'
import { configMaps, customResourceDefinitions, storageMigrations } from '#controllers/resources.ts'
import { storageMigration } from './storage-migration.ts'

const migration = (name: string, resource: string, group = '') => ({
  metadata: { name },
  spec: { resource: { group, resource } },
})

/** The conditions, and whether there is a resourceVersion. */
async function seen(client: ApiClient, name = 'm'): Promise<string[]> {
  const { status = {} } = await client.get(storageMigrations, '', name)
  return [
    ...(status.conditions ?? []).map(
      ({ type, status, reason, message }: Loose) => `${type} ${status} ${reason}: ${message}`,
    ),
    status.resourceVersion === undefined ? 'no version' : 'a version',
  ]
}

const isOver = (lines: string[]) => lines.some((line) => line.startsWith('Running False'))
const over = 'Running False MigrationCompleted: Migration completed'

type Refuse = (name: string) => ApiError | undefined

async function migrated(refuse: Refuse = () => undefined) {
  const patched: string[] = []
  const cluster = await startCluster({
    release: 37,
    wrap: (client) =>
      new Proxy(client, {
        get: (from, property: keyof ApiClient) =>
          property === 'patch'
            ? async (...[resource, namespace, name, patch]: Parameters<ApiClient['patch']>) => {
                const { apiVersion, kind, metadata } = patch
                const version = metadata.resourceVersion === undefined ? '' : ' of a version'
                patched.push(`${apiVersion} ${kind} ${namespace}/${name}${version}`)
                const error = refuse(name)
                if (error !== undefined) throw error
                return from.patch(resource, namespace, name, patch)
              }
            : (from[property] as (...args: unknown[]) => unknown).bind(from),
      }),
  })
  return { ...cluster, patched }
}

const conflict = new ApiError(409, 'Conflict', 'other')
const bad = new ApiError(422, 'Invalid', 'unfit')
const busy = new ApiError(429, 'TooManyRequests', 'busy')
let busyTimes = 0
const succeeded = 'Succeeded True StorageVersionMigrationSucceeded: Migration completed'
const rows: [what: string, refuse: Refuse, expected: string[], patches: number][] = [
  ['all objects', () => undefined, [over, succeeded, 'a version'], 2],
  ['an object that another client writes', () => conflict, [over, succeeded, 'a version'], 2],
  [
    'an object that is refused',
    (name) => (name === 'b' ? bad : undefined),
    [
      over,
      'Failed True StorageVersionMigrationFailed: 1/2 not yet migrated. migration encountered unhandled error: unfit',
      'a version',
    ],
    2,
  ],
  [
    'a server that is busy',
    () => (busyTimes++ < 1 ? busy : undefined),
    [over, succeeded, 'a version'],
    3,
  ],
]
for (const [what, refuse, expected, patches] of rows)
  test(`a migration with ${what}`, async () => {
    busyTimes = 0
    const { client, patched, ...cluster } = await migrated(refuse)
    try {
      for (const name of ['a', 'b']) await client.create(configMaps, 'default', configMap('', name))
      await client.create(storageMigrations, '', migration('m', 'configmaps'))
      cluster.run(storageMigration)
      await until('the end', async () => isOver(await seen(client)))
      assert.deepEqual(await seen(client), expected)
      assert.equal(patched.length, patches)
      assert.equal(patched[0], 'v1 ConfigMap default/a of a version')
    } finally {
      await cluster.stop()
    }
  })

test('a resource without the verbs cannot be migrated', async () => {
  const { client, ...cluster } = await migrated()
  try {
    cluster.run(storageMigration)
    const reviews = migration('m', 'tokenreviews', 'authentication.k8s.io')
    await client.create(storageMigrations, '', reviews)
    await until('the end', async () => isOver(await seen(client)))
    assert.deepEqual(await seen(client), [
      over,
      'Failed True StorageVersionMigrationFailed: resource "authentication.k8s.io/v1, Resource=tokenreviews" does not support discovery operations: [update patch list]',
      'no version',
    ])
  } finally {
    await cluster.stop()
  }
})

test('a resource that is missing is awaited for a minute', async () => {
  const { client, surroundings, ...cluster } = await migrated()
  try {
    let isLate = false
    const { clock } = surroundings
    Object.assign(surroundings, {
      clock: {
        now: () => clock.now() + (isLate ? 61_000 : 0),
        elapsed: () => clock.elapsed?.(),
        after: (_ms: number, call: () => void) => clock.after(10, call),
      },
    })
    cluster.run(storageMigration)
    await client.create(storageMigrations, '', migration('m', 'nones'))
    await until('it runs', async () => (await seen(client)).length === 2)
    isLate = true
    await until('the end', async () => isOver(await seen(client)))
    assert.equal(
      (await seen(client))[1],
      'Failed True StorageVersionMigrationFailed: resource does not exist in discovery',
    )
  } finally {
    await cluster.stop()
  }
})

test('migrations of one resource run one after the other, the oldest first', async () => {
  const { client, patched, ...cluster } = await migrated()
  try {
    await client.create(configMaps, 'default', configMap('', 'a'))
    for (const name of ['x', 'w']) {
      await client.create(storageMigrations, '', migration(name, 'configmaps'))
    }
    cluster.run(storageMigration)
    await until('both ends', async () =>
      isOver(await seen(client, 'w')) ? isOver(await seen(client, 'x')) : false,
    )
    assert.equal(patched.length, 2)
  } finally {
    await cluster.stop()
  }
})

test('a definition is marked, and loses the versions that are stored no more', async () => {
  const { client, ...cluster } = await migrated()
  try {
    const version = (name: string, storage: boolean) => ({
      name,
      served: true,
      storage,
      schema: { openAPIV3Schema: { type: 'object' } },
    })
    const names = { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' }
    const spec = { group: 'example.com', scope: 'Namespaced', names }
    const versions = [version('v1', false), version('v2', true)]
    const definition = { metadata: { name: 'gears.example.com' }, spec: { ...spec, versions } }
    const made = await client.create(customResourceDefinitions, '', definition as KubeObject)
    const status = { ...made.status, storedVersions: ['v1', 'v2'] }
    await client.update(customResourceDefinitions, { ...made, status }, 'status')
    cluster.run(storageMigration)
    await client.create(storageMigrations, '', migration('m', 'gears', 'example.com'))
    const now = async () => {
      const { status } = await client.get(customResourceDefinitions, '', 'gears.example.com')
      const marks = (status.conditions ?? []).filter(({ type }: Loose) => /Migrating/.test(type))
      return [
        ...marks.map(({ status, message }: Loose) => `${status} ${message}`),
        ...status.storedVersions,
      ]
    }
    await until('the mark', async () => (await now()).includes('True Migration m is running'))
    const { status: running, ...rest } = await client.get(storageMigrations, '', 'm')
    const done = { type: 'Succeeded', status: 'True', reason: 'X', message: '' }
    const lastTransitionTime = '2026-01-01T00:00:00Z'
    const conditions = [...running.conditions, { ...done, lastTransitionTime }]
    await client.update(storageMigrations, { ...rest, status: { conditions } } as never, 'status')
    await until('the end', async () => isOver(await seen(client)))
    assert.deepEqual(await now(), [
      'False The migration has succeeded and the stored versions have been updated',
      'v2',
    ])
  } finally {
    await cluster.stop()
  }
})
