/**
 * Shared strategy of jobs and job templates of cron jobs: drops fields of disabled features and
 * returns warnings.
 */
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { Context } from '#kinds/kind.ts'
import { podWarnings } from '#kinds/pod-template/pod-warnings.ts'

const manyIndexesWarn = change('indexed jobs of very many pods cause a warning', { since: 28 })

const gates: readonly (readonly [gate: string, ...fields: string[]])[] = [
  ['TTLAfterFinished', 'ttlSecondsAfterFinished'],
  ['IndexedJob', 'completionMode'],
  ['JobPodFailurePolicy', 'podFailurePolicy'],
  ['JobBackoffLimitPerIndex', 'backoffLimitPerIndex', 'maxFailedIndexes'],
  ['JobPodReplacementPolicy', 'podReplacementPolicy'],
  ['JobSuccessPolicy', 'successPolicy'],
  ['WorkloadWithJob', 'scheduling'],
]

/** `old` is absent for a new job. Fields that the old job uses are kept. */
export function dropDisabledJobFields(spec: Loose, old: Loose | undefined, context: Context): void {
  const before: Loose = old ?? {}
  for (const [gate, ...fields] of gates) {
    if (context.feature(gate)) continue
    for (const name of fields) if ((before[name] ?? undefined) === undefined) delete spec[name]
  }
  if (old === undefined) {
    if (!context.feature('JobManagedBy')) delete spec.managedBy
    const { rules } = spec.podFailurePolicy ?? {}
    if (rules && !context.feature('JobBackoffLimitPerIndex')) {
      spec.podFailurePolicy.rules = rules.filter(({ action }: Loose) => action !== 'FailIndex')
    }
  }
  if (!context.feature('SuspendJob') && before.suspend !== true) {
    if (before.suspend === undefined) delete spec.suspend
    else spec.suspend = before.suspend
  }
}

const manyCompletions = 100_000
const manyPods = 10_000

/** `path`: that of the job's specification. */
export function jobWarnings(spec: Loose, path: FieldPath, context: Context): string[] {
  const warnings = podWarnings(spec.template, path.child('template'), context)
  const { completionMode, completions = 0, parallelism = 0 } = spec
  const isLarge =
    completionMode === 'Indexed' && completions > manyCompletions && parallelism > manyPods
  if (!isLarge || !releaseOf(context.release).has(manyIndexesWarn)) return warnings
  const message =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail'
  return [`${path}: ${message}`, ...warnings]
}
