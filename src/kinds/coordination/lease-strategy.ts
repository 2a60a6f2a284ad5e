/** Validation of the strategy of an election, in Lease and LeaseCandidate. */
import { type FieldError, notSupported } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { qualifiedName } from '#api/names.ts'
import { each } from '#kinds/all-kinds/checks.ts'

export const oldestEmulationVersion = 'OldestEmulationVersion'

/**
 * One of Kubernetes' strategies, or a domain-qualified name. kube-apiserver repeats the field in
 * the path: `spec.strategy.strategy`.
 */
export function checkLeaseStrategy(strategy: string, path: FieldPath): FieldError[] {
  const at = path.child('strategy')
  if (strategy.includes('/')) return each(at, strategy, qualifiedName(strategy))
  return strategy === oldestEmulationVersion
    ? []
    : [notSupported(at, strategy, [oldestEmulationVersion])]
}
