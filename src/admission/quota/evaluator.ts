/**
 * What quotas count of one kind of object: which resources, which scopes, and how much one object
 * uses.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Release } from '#api/releases/change.ts'
import type { Awaitable } from '#base/awaitable.ts'
import type { AdmissionRequest } from '#admission/admission.ts'
import type { ResourceAmounts } from './resource-amounts.ts'

/** One requirement of a quota's scope: `{ scopeName, operator, values }`. */
export type Scope = Loose

/** The objects of a kind: all, or those of a namespace. */
export type Lookup = (
  group: string,
  plural: string,
  namespace?: string,
) => Awaitable<readonly KubeObject[]>

export interface Settings {
  readonly release: Release
  readonly feature: (gate: string) => boolean
  /** Milliseconds. */
  readonly now: () => number
}

export interface Evaluator {
  /** Whether a request may use more than before. */
  handles(request: Pick<AdmissionRequest, 'operation' | 'subresource' | 'object' | 'old'>): boolean
  /** Called before the rest where other objects decide how much one uses. */
  prepare?(lookup: Lookup, namespace: string): Promise<void>
  /** Whether a resource name of a quota is about this kind. */
  counts(name: string): boolean
  /** Whether the object is in the scope; kinds without scopes are in none. */
  inScope(scope: Scope, object: KubeObject): boolean
  usage(object: KubeObject): ResourceAmounts
  /** Whether an object that was changed to this may use less than before; without it none does. */
  mayUseLess?(object: KubeObject): boolean
  /** What an object must name for the quota to be countable; undefined when it does. */
  problem?(names: readonly string[], object: KubeObject): string | undefined
}

/** The scopes of a quota, as requirements. */
export function scopesOf({ spec }: KubeObject): Scope[] {
  const plain = ((spec?.scopes ?? []) as string[]).map((scopeName) => ({
    scopeName,
    operator: 'Exists',
  }))
  return [...plain, ...((spec?.scopeSelector?.matchExpressions ?? []) as Scope[])]
}
