/** Warnings about discouraged fields of a claim. kube-apiserver accepts the claim. */
import { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { quantityMilliValue } from '#api/quantity.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { Context } from '#kinds/kind.ts'

const ofFractions = change('claims are warned of fractions of a byte', { since: 26 })
const ofClassAnnotations = change('claims are warned of the annotation for the storage class', {
  since: 28,
})

const classKey = 'volume.beta.kubernetes.io/storage-class'

export function claimWarnings({ spec = {}, metadata }: KubeObject, context: Context): string[] {
  const { has } = releaseOf(context.release)
  const warnings: string[] = []
  if (has(ofClassAnnotations) && Object.hasOwn(metadata.annotations ?? {}, classKey)) {
    const at = FieldPath.of('metadata', 'annotations').key(classKey)
    warnings.push(`${at}: deprecated since v1.8; use "storageClassName" attribute instead`)
  }
  return has(ofFractions)
    ? [...warnings, ...claimSpecWarnings(spec, FieldPath.of('spec'))]
    : warnings
}

/** `path` is that of the spec: a claim may be part of a template. */
function claimSpecWarnings(spec: Loose, path: FieldPath): string[] {
  return ['requests', 'limits'].flatMap((list) => {
    const amount: string | undefined = spec.resources?.[list]?.storage
    if (amount === undefined || quantityMilliValue(amount) % 1000n === 0n) return []
    const at = path.child('resources', list).key('storage')
    return [`${at}: fractional byte value ${goQuote(amount)} is invalid, must be an integer`]
  })
}
