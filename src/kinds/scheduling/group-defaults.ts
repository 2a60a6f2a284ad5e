/** Defaults of PodGroup and CompositePodGroup. Their fields declare the other defaults. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const preemption: Defaulter = (value, { feature }) => {
  if (!feature('PodGroupPreemptionPolicy')) return
  value.spec ??= {}
  value.spec.preemptionPolicy ??= 'PreemptLowerPriority'
}

export const groupDefaults: Defaulters = {
  'io.k8s.api.scheduling.v1beta1.PodGroup': preemption,
  'io.k8s.api.scheduling.v1alpha3.PodGroup': preemption,
  'io.k8s.api.scheduling.v1alpha3.CompositePodGroup': preemption,
}
