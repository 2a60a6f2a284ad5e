/** Defaults of Job. */
import type { Loose } from '#api/object-meta.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { isUnset } from '#kinds/all-kinds/is-unset.ts'

const job: Defaulter = (object, context) => {
  const spec: Loose = (object.spec ??= {})
  if (isUnset(spec.completions) && isUnset(spec.parallelism)) spec.completions = 1
  spec.parallelism ??= 1
  spec.backoffLimit ??= 6
  const labels: Record<string, string> | undefined = spec.template?.metadata?.labels
  // One map for both, as in the original: what is added to the template's labels later is added to the job's.
  if (labels && Object.keys(object.metadata.labels ?? {}).length === 0) {
    object.metadata.labels = labels
  }
  if (context.feature('IndexedJob')) spec.completionMode ??= 'NonIndexed'
  if (context.feature('SuspendJob')) spec.suspend ??= false
}

export const jobDefaults: Defaulters = { 'io.k8s.api.batch.v1.Job': job }
