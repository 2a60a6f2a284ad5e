/** What a claim uses of a quota: itself and its storage, of all classes and of its own. */
import { classOfClaim } from '#admission/claim-class.ts'
import { type Quantity, parseQuantity, quantityOf, quantityValue } from '#api/quantity.ts'
import type { Evaluator } from './evaluator.ts'

const counted = ['persistentvolumeclaims', 'requests.storage']
const ofClass = '.storageclass.storage.k8s.io/'

export const claimEvaluator: Evaluator = {
  operations: ['CREATE', 'UPDATE'],
  counts: (name) =>
    name === 'count/persistentvolumeclaims' ||
    counted.includes(name) ||
    counted.some((one) => name.endsWith(`${ofClass}${one}`)),
  inScope: () => false,
  usage(claim) {
    const one = quantityOf(1)
    const amounts = new Map([
      ['persistentvolumeclaims', one],
      ['count/persistentvolumeclaims', one],
    ])
    const name = classOfClaim(claim)
    if (name !== '') amounts.set(`${name}${ofClass}persistentvolumeclaims`, one)
    const asked: string | undefined = claim.spec?.resources?.requests?.storage
    if (asked === undefined) return amounts
    const storage = whole(parseQuantity(asked))
    amounts.set('requests.storage', storage)
    if (name !== '') amounts.set(`${name}${ofClass}requests.storage`, storage)
    return amounts
  },
}

/** Parts of a byte count as one. */
function whole(amount: Quantity): Quantity {
  if (amount.scale >= 0) return amount
  const unscaled = quantityValue(amount)
  return unscaled * 10n ** BigInt(-amount.scale) === amount.unscaled
    ? amount
    : { ...quantityOf(unscaled), format: amount.format }
}
