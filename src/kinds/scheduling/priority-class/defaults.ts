/** Defaults of PriorityClass. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const preemption: Defaulter = (value, { feature }) => {
  if (feature('NonPreemptingPriority')) value.preemptionPolicy ??= 'PreemptLowerPriority'
}

export const priorityClassDefaults: Defaulters = {
  'io.k8s.api.scheduling.v1.PriorityClass': preemption,
  'io.k8s.api.scheduling.v1beta1.PriorityClass': preemption,
  'io.k8s.api.scheduling.v1alpha1.PriorityClass': preemption,
}
