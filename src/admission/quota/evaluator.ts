/**
 * The usage calculation for one kind of object: the resources and scopes it counts, and the usage
 * of one object.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Release } from '#api/releases/change.ts'
import type { Awaitable } from '#base/awaitable.ts'
import type { AdmissionRequest } from '#admission/admission.ts'
import type { ResourceAmounts } from './resource-amounts.ts'

/** One requirement of a quota's scope selector: `{ scopeName, operator, values }`. */
export type Scope = Loose

/** Lists the objects of a kind, in all namespaces or in one. */
export type Lookup = (
  group: string,
  plural: string,
  namespace?: string,
) => Awaitable<readonly KubeObject[]>

export interface Settings {
  readonly release: Release
  readonly feature: (gate: string) => boolean
  /** Milliseconds since 1970. */
  readonly now: () => number
}

export interface Evaluator {
  /** Whether the request may increase the usage. */
  handles(request: Pick<AdmissionRequest, 'operation' | 'subresource' | 'object' | 'old'>): boolean
  /** Loads other objects that determine the usage. Called before the other methods. */
  prepare?(lookup: Lookup, namespace: string): Promise<void>
  /** Whether a resource name of a quota counts this kind. */
  counts(name: string): boolean
  /** Whether the object is in the scope. Kinds without scopes are in none. */
  inScope(scope: Scope, object: KubeObject): boolean
  usage(object: KubeObject): ResourceAmounts
  /**
   * Whether an update to this object may have reduced its usage. Without this method, updates never
   * reduce it.
   */
  mayUseLess?(object: KubeObject): boolean
  /** The resources that the object must specify for the quota. Undefined if nothing is missing. */
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
