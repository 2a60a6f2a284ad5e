/** What quotas count of one kind of object: which resources, which scopes, and how much one object uses. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Operation } from '#admission/admission.ts'
import type { ResourceAmounts } from './resource-amounts.ts'

/** One requirement of a quota's scope: `{ scopeName, operator, values }`. */
export type Scope = Loose

export interface Settings {
  readonly feature: (gate: string) => boolean
  /** Milliseconds. */
  readonly now: () => number
}

export interface Evaluator {
  readonly operations: readonly Operation[]
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
