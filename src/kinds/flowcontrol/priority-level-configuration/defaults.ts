/** Defaults of PriorityLevelConfiguration. */
import { exemptHasShares, levelsLend } from '#api/priority-shares.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { keepsZeroShares } from './kept-zero.ts'

const sharesByDefault = 30

/** Only in v1 is zero different from unset. */
const limited: Defaulter = (value, { release }) => {
  value.nominalConcurrencyShares ??= sharesByDefault
  if (releaseOf(release).has(levelsLend)) value.lendablePercent ??= 0
}

/** The field of v1beta1 and v1beta2, where zero means that it is not set. */
const assured: Defaulter = (value, { release }) => {
  value.assuredConcurrencyShares ||= sharesByDefault
  if (releaseOf(release).has(levelsLend)) value.lendablePercent ??= 0
}

const lending: Defaulter = (value) => {
  value.lendablePercent ??= 0
}

/** An annotation preserves the zero that a client wrote in v1. */
const nominal: Defaulter = (value) => {
  const limits = value.spec?.limited
  if (limits && !keepsZeroShares(value)) limits.nominalConcurrencyShares ||= sharesByDefault
}

const exempt: Defaulter = (value, { release }) => {
  if (!releaseOf(release).has(exemptHasShares)) return
  value.nominalConcurrencyShares ??= 0
  value.lendablePercent ??= 0
}

const queuing: Defaulter = (value) => {
  value.handSize ||= 8
  value.queues ||= 64
  value.queueLengthLimit ||= 50
}

const defaultsOf = (version: string, limits: Defaulter): Defaulters => ({
  [`io.k8s.api.flowcontrol.${version}.LimitedPriorityLevelConfiguration`]: limits,
  [`io.k8s.api.flowcontrol.${version}.ExemptPriorityLevelConfiguration`]: exempt,
  [`io.k8s.api.flowcontrol.${version}.QueuingConfiguration`]: queuing,
})

export const priorityLevelConfigurationDefaults: Defaulters = {
  ...defaultsOf('v1alpha1', assured),
  ...defaultsOf('v1beta1', assured),
  ...defaultsOf('v1beta2', assured),
  ...defaultsOf('v1beta3', lending),
  'io.k8s.api.flowcontrol.v1beta3.PriorityLevelConfiguration': nominal,
  ...defaultsOf('v1', limited),
}
