/** Defaults of CronJob. */
import type { Loose } from '#api/object-meta.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

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

export const cronJobDefaults: Defaulters = {
  'io.k8s.api.batch.v1.CronJob': cronJob(true),
  'io.k8s.api.batch.v1beta1.CronJob': cronJob(true),
  'io.k8s.api.batch.v2alpha1.CronJob': cronJob(false),
}
