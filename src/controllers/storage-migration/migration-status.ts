/** The conditions of a StorageVersionMigration, and how its status is written. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { ControllerParts } from '#controllers/controller.ts'
import { storageMigrations } from '#controllers/resources.ts'
import { conditionOf, timeText } from '#controllers/workloads/conditions.ts'

type MigrationCondition = 'Running' | 'Succeeded' | 'Failed'

export interface NewCondition {
  readonly type: MigrationCondition
  readonly status?: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

export const hasCondition = ({ status }: KubeObject, type: MigrationCondition): boolean =>
  conditionOf(status, type)?.status === 'True'

export const hasEnded = (migration: KubeObject): boolean =>
  hasCondition(migration, 'Succeeded') || hasCondition(migration, 'Failed')

export const failed = (message: string): NewCondition => ({
  type: 'Failed',
  reason: 'StorageVersionMigrationFailed',
  message,
})

export const unhandled = (error: unknown): string =>
  `migration encountered unhandled error: ${(error as Error).message}`

export const succeeded: NewCondition = {
  type: 'Succeeded',
  reason: 'StorageVersionMigrationSucceeded',
  message: 'Migration completed',
}

/** `left` and `all` count objects. */
export function running(left = 0, all = 0, error?: Error): NewCondition {
  const progress =
    all === 0
      ? ''
      : left > 0
        ? `, ${left}/${all} objects not yet migrated`
        : `, ${all} objects verified migrated`
  const trouble = error === undefined ? '' : `; transient error: ${error.message}`
  const message = `The migration is running${progress}${trouble}`
  return { type: 'Running', reason: 'MigrationRunning', message }
}

/** A conflict means that the migration has changed, so that the next event handles it. */
export async function writeStatus(
  { client, clock }: Pick<ControllerParts, 'client' | 'clock'>,
  migration: KubeObject,
  conditions: readonly NewCondition[],
  more: Loose = {},
): Promise<void> {
  const before: Loose[] = migration.status?.conditions ?? []
  let next = before
  for (const condition of conditions) next = added(next, condition, clock.now())
  if (next === before && Object.keys(more).length === 0) return
  const status = { ...migration.status, ...more, ...(next.length > 0 && { conditions: next }) }
  await client.update(storageMigrations, { ...migration, status }, 'status')
}

/** The same list if nothing differs. The time is that of the last change of the status. */
function added(conditions: Loose[], given: NewCondition, nowMs: number): Loose[] {
  const wanted = { status: 'True', ...given }
  const old = conditions.find(({ type }) => type === wanted.type)
  const isSame =
    old?.status === wanted.status && old.reason === wanted.reason && old.message === wanted.message
  if (isSame) return conditions
  const lastTransitionTime =
    old?.status === wanted.status ? old.lastTransitionTime : timeText(nowMs)
  const next = { ...old, ...wanted, lastTransitionTime }
  return old === undefined
    ? [...conditions, next]
    : conditions.map((one) => (one === old ? next : one))
}
