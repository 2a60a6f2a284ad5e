/**
 * v1beta3 cannot distinguish zero shares from absent ones. An annotation marks an explicit zero. It
 * is added when an object is converted to v1beta3, and removed when it is converted back.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ownValue } from '#kinds/own-key.ts'

export const zeroSharesKey = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares'

export const keepsZeroShares = (object: Loose): boolean =>
  ownValue(object.metadata?.annotations, zeroSharesKey) !== undefined

export function markZeroShares({ metadata }: KubeObject): void {
  metadata.annotations = { ...metadata.annotations, [zeroSharesKey]: '' }
}

export function unmarkZeroShares({ metadata }: KubeObject): void {
  if (metadata.annotations === undefined) return
  const { [zeroSharesKey]: _, ...others } = metadata.annotations
  if (Object.keys(others).length > 0) metadata.annotations = others
  else delete metadata.annotations
}
