/** The rules of LeaseCandidate. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { leaseCandidateBehaviour } from './behaviour.ts'
import { leaseCandidateColumns } from './columns.ts'

export const leaseCandidate: KindRules = {
  behaviour: leaseCandidateBehaviour,
  finalizerNames: 'any',
  columns: leaseCandidateColumns,
}
