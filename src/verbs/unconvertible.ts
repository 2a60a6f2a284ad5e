/**
 * An object that can be decoded but not converted to the stored version. Each verb has its own
 * error message for it.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { Kind } from '#kinds/kind.ts'

export class Unconvertible extends ApiError {
  readonly why: string

  constructor({ kind, version }: Kind, why: string) {
    const words = `${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`
    super(400, 'BadRequest', words)
    this.why = why
  }

  /** An internal error, as in kube-apiserver, which does not expect this failure. */
  asFailure(before = ''): ApiError {
    return new ApiError(500, '', `${before}${this.why}`)
  }
}

export function requireConvertible(kind: Kind, object: KubeObject): void {
  const why = kind.resource.behaviour.conversionError?.(object, kind.apiVersion)
  if (why !== undefined) throw new Unconvertible(kind, why)
}
