/**
 * Runs StorageVersionMigrations: one at a time for each resource, the oldest first. A migration
 * gets the condition Running, then the resourceVersion up to which objects are migrated, then
 * Succeeded or Failed, and at last Running becomes False.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { timestampMs } from '#api/timestamp.ts'
import { PartialDiscovery, type ServedResource } from '#client/client.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import { queueFor, unlessOvertaken } from '#controllers/queue-for.ts'
import { beginDefinition, endDefinition } from './migrated-definition.ts'
import { migrateObjects } from './migrate-objects.ts'
import {
  failed,
  hasCondition,
  hasEnded,
  type NewCondition,
  running,
  succeeded,
  unhandled,
  writeStatus,
} from './migration-status.ts'

const name = 'storage-version-migrator-controller' as const
const migrationsAtOnceMax = 5
/** How long the resource of a new migration may be missing from discovery. */
const graceMs = 60_000
const lookAgainMs = 1000
/** No namespace has this name, so that a list in it is empty and cheap. */
const noNamespace = '@fake:svm_ns!'
const neededVerbs = ['update', 'patch', 'list']

const completed = {
  type: 'Running',
  status: 'False',
  reason: 'MigrationCompleted',
  message: 'Migration completed',
} as const

export const storageMigration: Controller = {
  name,
  account: name,
  start(parts) {
    if (!parts.feature('StorageVersionMigrator')) return
    const migrations = parts.informers.storageMigrations()
    const ofResource = (resource: string) =>
      [...migrations.values()].filter((one) => resourceOf(one) === resource)
    const queue = queueFor(
      name,
      parts,
      async (key) => {
        const migration = migrations.get('', key)
        if (migration === undefined) return
        return step(parts, migration, ofResource(resourceOf(migration)))
      },
      { workersMax: migrationsAtOnceMax },
    )
    // The end of a migration lets the next one of the resource begin.
    const lookAt = (migration: KubeObject) => {
      for (const { metadata } of ofResource(resourceOf(migration))) queue.add(metadata.name ?? '')
    }
    migrations.listen({ changed: lookAt, deleted: lookAt })
  },
}

const resourceOf = ({ spec }: KubeObject): string =>
  `${spec?.resource?.resource}.${spec?.resource?.group ?? ''}`

/** Returns after how many milliseconds to look again. */
async function step(
  parts: ControllerParts,
  migration: KubeObject,
  ofResource: readonly KubeObject[],
): Promise<number | void> {
  const isRunning = hasCondition(migration, 'Running')
  if (hasEnded(migration)) {
    if (isRunning) await end(parts, migration)
    return
  }
  if (isRunning) return run(parts, migration)
  if (isNext(migration, ofResource)) await begin(parts, migration)
}

function isNext(migration: KubeObject, ofResource: readonly KubeObject[]): boolean {
  const open = ofResource.filter((one) => !hasEnded(one))
  if (open.some((one) => hasCondition(one, 'Running'))) return false
  return open.every((one) => one === migration || orderOf(migration) < orderOf(one))
}

const orderOf = ({ metadata }: KubeObject): string =>
  `${metadata.creationTimestamp} ${metadata.name}`

async function begin(parts: ControllerParts, migration: KubeObject): Promise<void> {
  const { spec, metadata } = migration
  await beginDefinition(parts, spec.resource, metadata.name ?? '')
  await unlessOvertaken(writeStatus(parts, migration, [running()]))
}

async function end(parts: ControllerParts, migration: KubeObject): Promise<void> {
  const isSuccess = hasCondition(migration, 'Succeeded')
  await endDefinition(parts, migration.spec.resource, isSuccess)
  await unlessOvertaken(writeStatus(parts, migration, [completed]))
}

async function run(parts: ControllerParts, migration: KubeObject): Promise<number | void> {
  const version: string = migration.status?.resourceVersion ?? ''
  const write = (conditions: readonly NewCondition[], more?: Loose) =>
    unlessOvertaken(writeStatus(parts, migration, conditions, more))
  const served = await servedResource(parts, migration)
  if (served === undefined) {
    const createdMs = timestampMs(migration.metadata.creationTimestamp ?? '')
    if (createdMs + graceMs > parts.clock.now()) return lookAgainMs
    const why =
      version === ''
        ? 'resource does not exist in discovery'
        : unhandled(new Error('unable to obtain GVR from discovery'))
    return write([failed(why)])
  }
  if (version !== '') return migrate(parts, migration, served, version)
  if (!neededVerbs.every((verb) => served.verbs.has(verb)))
    return write([failed(notMigratable(served))])
  const namespace = served.namespaced ? noNamespace : ''
  const { resourceVersion } = await parts.client.list(served, namespace, { limit: 1 })
  await write([], { resourceVersion })
}

/** As Go writes a GroupVersionResource and a list. */
const notMigratable = ({ group, version, plural }: ServedResource): string =>
  `resource "${group}/${version}, Resource=${plural}" does not support discovery operations: [${neededVerbs.join(' ')}]`

async function migrate(
  parts: ControllerParts,
  migration: KubeObject,
  served: ServedResource,
  version: string,
): Promise<void> {
  const outcome = await migrateObjects(parts.client, served, version)
  if (outcome.is === 'complete')
    return unlessOvertaken(writeStatus(parts, migration, [running(0, outcome.all), succeeded]))
  const { left, all, error, isTransient } = outcome
  if (isTransient) {
    await unlessOvertaken(writeStatus(parts, migration, [running(left, all, error)]))
    throw error
  }
  const why = `${left}/${all} not yet migrated. ${unhandled(error)}`
  await unlessOvertaken(writeStatus(parts, migration, [running(left, all), failed(why)]))
}

async function servedResource(
  { client }: ControllerParts,
  { spec }: KubeObject,
): Promise<ServedResource | undefined> {
  const { group = '', resource } = spec.resource
  const all = await client.resources().catch((error) => {
    if (error instanceof PartialDiscovery) return error.found
    throw error
  })
  return all.find((one) => one.group === group && one.plural === resource)
}
