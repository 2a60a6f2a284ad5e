/** Defaults of StatefulSet. */
import { change, releaseOf } from '#api/releases/change.ts'
import type { Loose } from '#api/object-meta.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { claimsHaveTypes } from '#kinds/stored-fields.ts'
import { fromTemplate } from '#kinds/workloads/from-template.ts'

const keepsStrategy = change('a StatefulSet keeps the members of its rollingUpdate that are set', {
  since: 19,
})

const statefulSet =
  (strategyType: string, takesTemplate: boolean, keepsRollingUpdate: boolean): Defaulter =>
  (object, context) => {
    const spec: Loose = (object.spec ??= {})
    spec.podManagementPolicy ||= 'OrderedReady'
    const strategy: Loose = (spec.updateStrategy ??= {})
    if (!strategy.type) {
      strategy.type = strategyType
      if (strategyType === 'RollingUpdate') {
        const kept = keepsRollingUpdate && releaseOf(context.release).has(keepsStrategy)
        strategy.rollingUpdate = (kept ? strategy.rollingUpdate : undefined) ?? {}
      }
    }
    if (takesTemplate) fromTemplate(object)
    spec.replicas ??= 1
    spec.revisionHistoryLimit ??= 10
    if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate) {
      strategy.rollingUpdate.partition ??= 0
      if (context.feature('MaxUnavailableStatefulSet')) strategy.rollingUpdate.maxUnavailable ??= 1
    }
    if (context.feature('StatefulSetAutoDeletePVC')) keepClaims(spec)
    if (releaseOf(context.release).has(claimsHaveTypes)) nameClaims(spec)
  }

/** Claims outlive the set and its pods. */
function keepClaims(spec: Loose): void {
  const policy: Loose = (spec.persistentVolumeClaimRetentionPolicy ??= {})
  policy.whenDeleted ||= 'Retain'
  policy.whenScaled ||= 'Retain'
}

/** Claim templates get kind and apiVersion. */
function nameClaims(spec: Loose): void {
  for (const claim of (spec.volumeClaimTemplates ?? []) as Loose[]) {
    claim.kind = 'PersistentVolumeClaim'
    claim.apiVersion = 'v1'
  }
}

export const statefulSetDefaults: Defaulters = {
  'io.k8s.api.apps.v1.StatefulSet': statefulSet('RollingUpdate', false, true),
  'io.k8s.api.apps.v1beta2.StatefulSet': statefulSet('RollingUpdate', false, false),
  'io.k8s.api.apps.v1beta1.StatefulSet': statefulSet('OnDelete', true, false),
}
