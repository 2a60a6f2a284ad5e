/**
 * Defaults of Deployment. In extensions/v1beta1, rolling updates replace one pod at a time, and all
 * revisions are kept.
 */
import type { Loose } from '#api/object-meta.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { fromTemplate } from '#kinds/workloads/from-template.ts'

const int32Max = 2147483647

interface DeploymentDefaults {
  readonly fromTemplate: boolean
  readonly step: number | string
  readonly revisions: number
  readonly deadline: number
}

const deployment =
  (defaults: DeploymentDefaults): Defaulter =>
  (object) => {
    const spec: Loose = (object.spec ??= {})
    if (defaults.fromTemplate) fromTemplate(object)
    spec.replicas ??= 1
    const strategy: Loose = (spec.strategy ??= {})
    strategy.type ||= 'RollingUpdate'
    // extensions/v1beta1 completes an existing rollingUpdate regardless of the strategy type.
    const filled = defaults.step === 1 && strategy.rollingUpdate
    if (strategy.type === 'RollingUpdate' || filled) {
      const rolling: Loose = (strategy.rollingUpdate ??= {})
      rolling.maxUnavailable ??= defaults.step
      rolling.maxSurge ??= defaults.step
    }
    spec.revisionHistoryLimit ??= defaults.revisions
    spec.progressDeadlineSeconds ??= defaults.deadline
  }

const current = { fromTemplate: false, step: '25%', revisions: 10, deadline: 600 }

export const deploymentDefaults: Defaulters = {
  'io.k8s.api.apps.v1.Deployment': deployment(current),
  'io.k8s.api.apps.v1beta2.Deployment': deployment(current),
  'io.k8s.api.apps.v1beta1.Deployment': deployment({
    ...current,
    fromTemplate: true,
    revisions: 2,
  }),
  'io.k8s.api.extensions.v1beta1.Deployment': deployment({
    fromTemplate: true,
    step: 1,
    revisions: int32Max,
    deadline: int32Max,
  }),
}
