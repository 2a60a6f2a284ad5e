/** Defaults of PriorityLevelConfiguration. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const limited: Defaulter = (value) => {
  value.assuredConcurrencyShares ||= 30
}

const queuing: Defaulter = (value) => {
  value.handSize ||= 8
  value.queues ||= 64
  value.queueLengthLimit ||= 50
}

const defaultsOf = (version: string): Defaulters => ({
  [`io.k8s.api.flowcontrol.${version}.LimitedPriorityLevelConfiguration`]: limited,
  [`io.k8s.api.flowcontrol.${version}.QueuingConfiguration`]: queuing,
})

export const priorityLevelConfigurationDefaults: Defaulters = {
  ...defaultsOf('v1alpha1'),
  ...defaultsOf('v1beta1'),
}
