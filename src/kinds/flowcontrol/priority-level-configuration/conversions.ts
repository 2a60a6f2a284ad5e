/**
 * Conversions of PriorityLevelConfiguration: v1beta1 and v1beta2 have assuredConcurrencyShares, and
 * only v1 distinguishes zero from unset.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { sharesField } from '#api/priority-shares.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { Conversion, Conversions } from '#kinds/all-kinds/conversion.ts'
import { markZeroShares, unmarkZeroShares } from './kept-zero.ts'

const limitsOf = (object: KubeObject): Loose | undefined => object.spec?.limited

function rename(limits: Loose, to: string): void {
  const shares = limits.nominalConcurrencyShares ?? limits.assuredConcurrencyShares
  delete limits.nominalConcurrencyShares
  delete limits.assuredConcurrencyShares
  if (shares !== undefined) limits[to] = shares
}

const withAssuredShares: Conversion = {
  toHub(object, release) {
    const limits = limitsOf(object)
    if (limits !== undefined) rename(limits, sharesField(releaseOf(release)))
    return object
  },
  fromHub(object) {
    const limits = limitsOf(object)
    if (limits !== undefined) rename(limits, 'assuredConcurrencyShares')
    return object
  },
}

const withMarkedZero: Conversion = {
  toHub(object) {
    unmarkZeroShares(object)
    return object
  },
  fromHub(object) {
    if (limitsOf(object)?.nominalConcurrencyShares === 0) markZeroShares(object)
    return object
  },
}

const group = 'flowcontrol.apiserver.k8s.io'

export const priorityLevelConfigurationConversions: Conversions = {
  [`${group}/v1beta1`]: withAssuredShares,
  [`${group}/v1beta2`]: withAssuredShares,
  [`${group}/v1beta3`]: withMarkedZero,
}
