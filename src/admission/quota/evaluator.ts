/** What quotas count of one kind of object: which resources, which scopes, and how much one object uses. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { quantityOf } from '#api/quantity.ts'
import type { Operation } from '#admission/admission.ts'
import { claimEvaluator } from './claim-usage.ts'
import { podEvaluator } from './pod-usage.ts'
import type { ResourceAmounts } from './resource-amounts.ts'
import { serviceEvaluator } from './service-usage.ts'

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
  /** What an object must name for the quota to be countable; undefined when it does. */
  problem?(names: readonly string[], object: KubeObject): string | undefined
}

export const countName = (group: string, plural: string): string =>
  group === '' ? `count/${plural}` : `count/${plural}.${group}`

/** Names of old for the number of some kinds. */
const aliases: Readonly<Record<string, string>> = {
  '/configmaps': 'configmaps',
  '/resourcequotas': 'resourcequotas',
  '/replicationcontrollers': 'replicationcontrollers',
  '/secrets': 'secrets',
}

/** Never stored, or never counted before. */
const ignored = new Set([
  '/bindings',
  '/componentstatuses',
  '/events',
  'authentication.k8s.io/tokenreviews',
  'authorization.k8s.io/subjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
])

export class Evaluators {
  readonly #known = new Map<string, Evaluator | undefined>()

  constructor(settings: Settings) {
    this.#known.set('/pods', podEvaluator(settings))
    this.#known.set('/services', serviceEvaluator(settings))
    this.#known.set('/persistentvolumeclaims', claimEvaluator)
  }

  /** Undefined for what quotas do not count. */
  of(group: string, plural: string): Evaluator | undefined {
    const key = `${group}/${plural}`
    if (!this.#known.has(key)) {
      this.#known.set(key, ignored.has(key) ? undefined : objectCount(group, plural, aliases[key]))
    }
    return this.#known.get(key)
  }
}

function objectCount(group: string, plural: string, alias: string | undefined): Evaluator {
  const names = [countName(group, plural), ...(alias === undefined ? [] : [alias])]
  const one = new Map(names.map((name) => [name, quantityOf(1)]))
  return {
    operations: ['CREATE'],
    counts: (name) => names.includes(name),
    inScope: () => false,
    usage: () => one,
  }
}

/** The scopes of a quota, as requirements. */
export function scopesOf({ spec }: KubeObject): Scope[] {
  const plain = ((spec?.scopes ?? []) as string[]).map((scopeName) => ({
    scopeName,
    operator: 'Exists',
  }))
  return [...plain, ...((spec?.scopeSelector?.matchExpressions ?? []) as Scope[])]
}
