/** Defaults of jobs and cron jobs. */
import type { Loose } from '#api/object-meta.ts'
import type { Defaulter, Defaulters } from './defaulter.ts'

const isUnset = (value: unknown): boolean => value === undefined || value === null

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

const cronJob =
  (limitsHistory: boolean): Defaulter =>
  (object) => {
    const spec: Loose = (object.spec ??= {})
    spec.concurrencyPolicy ||= 'Allow'
    spec.suspend ??= false
    if (!limitsHistory) return
    spec.successfulJobsHistoryLimit ??= 3
    spec.failedJobsHistoryLimit ??= 1
  }

export const batchDefaults: Defaulters = {
  'io.k8s.api.batch.v1.Job': job,
  'io.k8s.api.batch.v1.CronJob': cronJob(true),
  'io.k8s.api.batch.v1beta1.CronJob': cronJob(true),
  'io.k8s.api.batch.v2alpha1.CronJob': cronJob(false),
}
