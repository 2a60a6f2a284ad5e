/** The specification of a job, in a job or in the template of a cron job. */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { validateNonnegative } from '#api/object-meta-rules.ts'
import type { PodRules } from '#kinds/pod-template/pod-rules.ts'
import { checkPodTemplate } from '#kinds/pod-template/pod-spec.ts'

const missingPolicyIsRequired = change('a job without a restart policy misses a required value', {
  since: 20,
})

/** Most pods of an indexed job at once: its status lists indexes, and must not outgrow an object. */
const indexedParallelismMax = 100_000
const counts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
]
const completionModes = ['NonIndexed', 'Indexed']

export function checkJobSpec(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors = counts.flatMap((field) => validateNonnegative(spec[field] ?? 0, path.child(field)))
  errors.push(...checkCompletionMode(spec, path))
  errors.push(...checkPodTemplate(spec.template ?? {}, path.child('template'), rules))
  const policy: string = spec.template?.spec?.restartPolicy ?? ''
  const at = path.child('template', 'spec', 'restartPolicy')
  const isDefault = policy === 'Always' || policy === ''
  if (isDefault && releaseOf(rules.release).has(missingPolicyIsRequired)) {
    errors.push(required(at, 'valid values: "OnFailure", "Never"'))
  } else if (policy !== 'OnFailure' && policy !== 'Never') {
    errors.push(notSupported(at, policy, ['OnFailure', 'Never']))
  }
  return errors
}

function checkCompletionMode(spec: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const mode = spec.completionMode ?? undefined
  if (mode === undefined) return errors
  if (!completionModes.includes(mode)) {
    errors.push(notSupported(path.child('completionMode'), mode, completionModes))
  }
  if (mode !== 'Indexed') return errors
  if ((spec.completions ?? undefined) === undefined) {
    errors.push(required(path.child('completions'), 'when completion mode is Indexed'))
  }
  if (spec.parallelism > indexedParallelismMax) {
    const detail = `must be less than or equal to ${indexedParallelismMax} when completion mode is Indexed`
    errors.push(invalid(path.child('parallelism'), spec.parallelism, detail))
  }
  return errors
}
