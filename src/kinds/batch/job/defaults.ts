/** Defaults of Job. */
import type { Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { selectorIsDefaulted } from '#kinds/stored-fields.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { isUnset } from '#kinds/all-kinds/is-unset.ts'

/** Before, they were defaulted in jobs only, not in the templates of cron jobs. */
const patternsAreDefaulted = change(
  'conditions in pod failure policies of cron jobs are defaulted',
  {
    since: 34,
  },
)
const int32Max = 2147483647

const job: Defaulter = (object, context) => {
  const spec: Loose = (object.spec ??= {})
  if (isUnset(spec.completions) && isUnset(spec.parallelism)) spec.completions = 1
  spec.parallelism ??= 1
  spec.backoffLimit ??= isUnset(spec.backoffLimitPerIndex) ? 6 : int32Max
  const labels: Record<string, string> | undefined = spec.template?.metadata?.labels
  // Job and template share one map, as in kube-apiserver: labels that are added to the template
  // later appear on the job too.
  if (labels && Object.keys(object.metadata.labels ?? {}).length === 0) {
    object.metadata.labels = labels
  }
  if (context.feature('IndexedJob')) spec.completionMode ??= 'NonIndexed'
  if (context.feature('SuspendJob')) spec.suspend ??= false
  for (const rule of (spec.podFailurePolicy?.rules ?? []) as Loose[]) {
    for (const condition of (rule.onPodConditions ?? []) as Loose[]) condition.status ||= 'True'
  }
  if (context.feature('JobPodReplacementPolicy')) {
    spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed'
  }
  if (releaseOf(context.release).has(selectorIsDefaulted)) spec.manualSelector ??= false
}

const pattern: Defaulter = (value, { release }) => {
  if (releaseOf(release).has(patternsAreDefaulted)) value.status ||= 'True'
}

export const jobPatternDefaults: Defaulters = {
  'io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern': pattern,
}

export const jobDefaults: Defaulters = { 'io.k8s.api.batch.v1.Job': job, ...jobPatternDefaults }
