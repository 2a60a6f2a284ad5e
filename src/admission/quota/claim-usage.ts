/**
 * The quota usage of a PersistentVolumeClaim: the claim itself and its storage, in total and per
 * storage class.
 */
import { classOfClaim } from '#admission/claim-class.ts'
import type { KubeObject } from '#api/object-meta.ts'
import {
  compareQuantities,
  type Quantity,
  parseQuantity,
  quantityOf,
  quantityValue,
} from '#api/quantity.ts'
import { change } from '#api/releases/change.ts'
import type { Evaluator, Settings } from './evaluator.ts'
import { matchesScope } from './scope.ts'

const counted = ['persistentvolumeclaims', 'requests.storage']
const ofClass = '.storageclass.storage.k8s.io/'

const countsClaimStatus = change('quotas count the status of volume claims', { since: 33 })

export function claimEvaluator({ release, feature }: Settings): Evaluator {
  const recovers = feature('RecoverVolumeExpansionFailure')
  const hasStatus = release.has(countsClaimStatus)
  const hasClasses = hasStatus && feature('VolumeAttributesClass')
  return {
    handles({ operation, subresource, object, old }) {
      if (subresource === '') return operation === 'CREATE' || operation === 'UPDATE'
      if (subresource !== 'status' || !hasStatus) return false
      return recovers || (hasClasses && classNames(object) !== classNames(old))
    },
    counts: (name) =>
      name === 'count/persistentvolumeclaims' ||
      counted.includes(name) ||
      counted.some((one) => name.endsWith(`${ofClass}${one}`)),
    inScope: (scope, claim) =>
      hasClasses &&
      scope.scopeName === 'VolumeAttributesClass' &&
      matchesScope(scope, classesOf(claim)),
    ...(hasStatus && { mayUseLess: () => true }),
    usage(claim) {
      const one = quantityOf(1)
      const amounts = new Map([
        ['persistentvolumeclaims', one],
        ['count/persistentvolumeclaims', one],
      ])
      const name = classOfClaim(claim)
      if (name !== '') amounts.set(`${name}${ofClass}persistentvolumeclaims`, one)
      const storage = storageOf(claim, recovers)
      if (storage === undefined) return amounts
      amounts.set('requests.storage', storage)
      if (name !== '') amounts.set(`${name}${ofClass}requests.storage`, storage)
      return amounts
    },
  }
}

/** A failed expansion may have allocated more than the claim requests now. */
function storageOf({ spec, status }: KubeObject, recovers: boolean): Quantity | undefined {
  const requested: string | undefined = spec?.resources?.requests?.storage
  if (requested === undefined) return undefined
  const allocated: string | undefined = status?.allocatedResources?.storage
  const isMore = recovers && allocated !== undefined && compareQuantities(allocated, requested) > 0
  return whole(parseQuantity(isMore ? allocated : requested))
}

/** The volume attributes classes that a claim has, gets or requests. */
function classesOf({ spec, status }: KubeObject): string[] {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]
  return [...new Set(names.filter((name): name is string => !!name))]
}

const classNames = (claim: KubeObject | undefined): string =>
  claim === undefined ? '' : classesOf(claim).sort().join()

/** Rounds a quantity up to whole bytes. */
function whole(amount: Quantity): Quantity {
  if (amount.scale >= 0) return amount
  const unscaled = quantityValue(amount)
  return unscaled * 10n ** BigInt(-amount.scale) === amount.unscaled
    ? amount
    : { ...quantityOf(unscaled), format: amount.format }
}
