/** When an indexed job has succeeded before all of its indexes have. */
import { type FieldError, invalid, required, tooLong, tooMany } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { longerThan } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { validateNonnegative } from '#api/object-meta-rules.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import { countIndexes } from './index-intervals.ts'

const rulesMax = 20
const indexesLengthMax = 64 * 1024

export function checkSuccessPolicy(job: Loose, path: FieldPath): FieldError[] {
  const policy: Loose = job.successPolicy
  if (job.completionMode !== 'Indexed') {
    const shown = internalValue('io.k8s.api.batch.v1.SuccessPolicy', policy)
    return [invalid(path, shown, 'requires indexed completion mode')]
  }
  const rules: Loose[] = policy.rules ?? []
  const at = path.child('rules')
  const errors: FieldError[] = []
  if (rules.length === 0) {
    const detail = 'at least one rules must be specified when the successPolicy is specified'
    errors.push(required(at, detail))
  }
  if (rules.length > rulesMax) errors.push(tooMany(at, rules.length, rulesMax))
  // Another check already rejects a job without completions.
  const completions: number = job.completions ?? 0
  return [...errors, ...rules.flatMap((rule, i) => checkRule(rule, completions, at.index(i)))]
}

function checkRule(rule: Loose, completions: number, path: FieldPath): FieldError[] {
  const count: number | undefined = rule.succeededCount ?? undefined
  const indexes: string | undefined = rule.succeededIndexes ?? undefined
  if (count === undefined && indexes === undefined) {
    return [required(path, 'at least one of succeededCount or succeededIndexes must be specified')]
  }
  const errors: FieldError[] = []
  let total = 0
  if (indexes !== undefined) {
    const at = path.child('succeededIndexes')
    if (longerThan(indexes, indexesLengthMax)) errors.push(tooLong(at, '', indexesLengthMax))
    const counted = countIndexes(indexes, completions)
    if (typeof counted === 'number') total = counted
    else errors.push(invalid(at, indexes, `error parsing succeededIndexes: ${counted}`))
  }
  if (count === undefined) return errors
  const at = path.child('succeededCount')
  errors.push(...validateNonnegative(count, at))
  const atMost = (limit: number, what: string) => {
    if (count <= limit) return
    errors.push(
      invalid(at, count, `must be less than or equal to ${limit} (the number of ${what})`),
    )
  }
  atMost(completions, 'specified completions')
  if (indexes !== undefined) atMost(total, 'indexes in the specified succeededIndexes field')
  return errors
}
