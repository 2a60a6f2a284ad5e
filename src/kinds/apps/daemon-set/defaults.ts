/** Defaults of DaemonSet. */
import { daemonSetsCanSurge } from '#kinds/stored-fields.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { Loose } from '#api/object-meta.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { fromTemplate } from '#kinds/workloads/from-template.ts'

/** Versions that keep the template generation in an annotation start with 0. */
function countTemplates(object: Loose): void {
  const key = 'deprecated.daemonset.template.generation'
  object.metadata.annotations ??= {}
  if (!Object.hasOwn(object.metadata.annotations, key)) object.metadata.annotations[key] = '0'
}

const daemonSet =
  (strategyType: string, first: boolean): Defaulter =>
  (object, context) => {
    const spec: Loose = (object.spec ??= {})
    if (first) fromTemplate(object)
    else countTemplates(object)
    const strategy: Loose = (spec.updateStrategy ??= {})
    strategy.type ||= strategyType
    const rolls = strategy.type === 'RollingUpdate'
    // A struct that exists has numbers, whatever the strategy: in kube-apiserver none is omitted
    // but 0.
    if (rolls || strategy.rollingUpdate) {
      const rolling: Loose = (strategy.rollingUpdate ??= {})
      rolling.maxUnavailable ??= rolls ? 1 : 0
      if (releaseOf(context.release).has(daemonSetsCanSurge)) rolling.maxSurge ??= 0
    }
    spec.revisionHistoryLimit ??= 10
  }

export const daemonSetDefaults: Defaulters = {
  'io.k8s.api.apps.v1.DaemonSet': daemonSet('RollingUpdate', false),
  'io.k8s.api.apps.v1beta2.DaemonSet': daemonSet('RollingUpdate', false),
  'io.k8s.api.extensions.v1beta1.DaemonSet': daemonSet('OnDelete', true),
}
