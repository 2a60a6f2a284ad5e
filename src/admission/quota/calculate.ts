/** Computes the usage for one quota from the existing objects of a namespace. */
import type { KubeObject } from '#api/object-meta.ts'
import { type Quantity, quantityOf } from '#api/quantity.ts'
import { type Lookup, scopesOf } from './evaluator.ts'
import type { Evaluators } from './evaluators.ts'
import { add, only } from './resource-amounts.ts'

export interface Counted {
  readonly group: string
  readonly plural: string
  /** Lists the objects of the namespace. Called only if the quota counts the kind. */
  readonly list: () => Promise<readonly KubeObject[]> | readonly KubeObject[]
}

/** The result contains only resource names that some kind counts. */
export async function calculateUsage(
  quota: KubeObject,
  evaluators: Evaluators,
  kinds: Iterable<Counted>,
  lookup: Lookup,
): Promise<Map<string, Quantity>> {
  const hard = Object.keys(quota.spec?.hard ?? {})
  const scopes = scopesOf(quota)
  let used = new Map<string, Quantity>()
  const matched = new Set<string>()
  for (const { group, plural, list } of kinds) {
    const evaluator = evaluators.of(group, plural)
    await evaluator?.prepare?.(lookup, quota.metadata.namespace ?? '')
    const names = evaluator === undefined ? [] : hard.filter((name) => evaluator.counts(name))
    if (evaluator === undefined || names.length === 0) continue
    for (const name of names) {
      matched.add(name)
      if (!used.has(name)) used.set(name, quantityOf(0))
    }
    for (const object of await list()) {
      if (scopes.every((scope) => evaluator.inScope(scope, object)))
        used = add(used, evaluator.usage(object))
    }
  }
  return only(used, matched)
}
