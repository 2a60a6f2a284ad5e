/**
 * The object of a bookmark event: an object of the watched kind that has only a resourceVersion,
 * encoded like kube-apiserver's zero value. It is not stored.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { Kind } from '#kinds/kind.ts'
import { withoutType } from '#http/response/represent.ts'

/** `endsInitial`: marks the end of the initial events. */
export function bookmarkObject(kind: Kind, revision: number, endsInitial = false): KubeObject {
  const { kind: name, apiVersion } = kind
  const metadata = {
    ...(endsInitial && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
    resourceVersion: String(revision),
  }
  if (kind.itemsCarryType) return { apiVersion, kind: name, metadata }
  return { kind: name, apiVersion, ...withoutType(kind.conform({ metadata }).object) }
}

export const bookmarkFrame = (object: object): Buffer =>
  Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`)
