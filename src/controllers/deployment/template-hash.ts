/**
 * The hash of a pod template, which names the replica set of a deployment, and the comparison of
 * templates without it. Pure.
 *
 * Example: deployment `web` has the replica set `web-6c9f8d5b7` and the label
 * `pod-template-hash: 6c9f8d5b7` on it, in its selector and on its pods.
 */
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { semanticEqual } from '#api/semantic-equal.ts'

export const hashLabel = 'pod-template-hash'

/** Kubernetes' alphabet for generated names: it spells no words. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const nameLengthMax = 253

/** The collision count makes another hash of the same template. */
export function templateHash(template: Loose, collisionCount: number | undefined): string {
  const text = JSON.stringify(sorted(template))
  const digits = String(fnv1a(Buffer.from(`${text}${collisionCount ?? ''}`)))
  return [...digits].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('')
}

/** The 32-bit variant of Fowler, Noll and Vo's hash. */
function fnv1a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

export const replicaSetName = (deployment: string, hash: string): string =>
  `${deployment.slice(0, nameLengthMax - 1 - hash.length)}-${hash}`

export const hasTemplate = (set: KubeObject, { spec }: KubeObject): boolean =>
  semanticEqual(withoutHash(set.spec?.template), withoutHash(spec?.template))

export function withoutHash(template: Loose = {}): Loose {
  const { [hashLabel]: _, ...labels } = template.metadata?.labels ?? {}
  return { ...template, metadata: { ...template.metadata, labels } }
}

function sorted(value: Json): Json {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(sorted)
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key] as Json)]))
}
