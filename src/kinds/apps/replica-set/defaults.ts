/** Defaults of ReplicaSet. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { fromTemplate } from '#kinds/workloads/from-template.ts'

const replicaSet =
  (takesTemplate: boolean): Defaulter =>
  (object) => {
    object.spec ??= {}
    if (takesTemplate) fromTemplate(object)
    object.spec.replicas ??= 1
  }

export const replicaSetDefaults: Defaulters = {
  'io.k8s.api.apps.v1.ReplicaSet': replicaSet(false),
  'io.k8s.api.apps.v1beta2.ReplicaSet': replicaSet(false),
  'io.k8s.api.extensions.v1beta1.ReplicaSet': replicaSet(true),
}
