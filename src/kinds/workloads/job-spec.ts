/** The specification of a job, in a job or in the template of a cron job. */
import { type FieldError, invalid, notSupported, required, tooLong } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { dns1123Subdomain, longerThan } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { validateNonnegative } from '#api/object-meta-rules.ts'
import { change } from '#api/releases/change.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import type { PodRules } from '#kinds/pod-template/pod-rules.ts'
import { checkPodTemplate } from '#kinds/pod-template/pod-spec.ts'
import { checkPodFailurePolicy } from './pod-failure-policy.ts'
import { checkSuccessPolicy } from './success-policy.ts'

const missingPolicyIsRequired = change('a job without a restart policy misses a required value', {
  since: 20,
})

/**
 * Most pods of an indexed job at once: its status lists indexes, and must not outgrow an object.
 */
const indexedParallelismMax = 100_000
const failedIndexesMax = 100_000
/**
 * Jobs with more completions than this that limit retries of each index have lower limits, for the
 * same reason.
 */
const manyCompletions = 100_000
const manyCompletionsMax = 10_000
const managerLengthMax = 63
const counts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
]
const completionModes = ['NonIndexed', 'Indexed']
const replacementPolicies = ['Failed', 'TerminatingOrFailed']

const isSet = (value: unknown): boolean => value !== undefined && value !== null

export function checkJobSpec(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors = counts.flatMap((field) => validateNonnegative(spec[field] ?? 0, path.child(field)))
  if (isSet(spec.maxFailedIndexes)) {
    errors.push(...validateNonnegative(spec.maxFailedIndexes, path.child('maxFailedIndexes')))
    if (!isSet(spec.backoffLimitPerIndex)) {
      const detail = 'when maxFailedIndexes is specified'
      errors.push(required(path.child('backoffLimitPerIndex'), detail))
    }
  }
  if (isSet(spec.managedBy)) {
    errors.push(...checkManager(spec.managedBy, path.child('managedBy')))
  }
  errors.push(...checkCompletionMode(spec, path))
  if (spec.podFailurePolicy) {
    errors.push(...checkPodFailurePolicy(spec, path.child('podFailurePolicy'), rules))
  }
  if (spec.successPolicy) errors.push(...checkSuccessPolicy(spec, path.child('successPolicy')))
  errors.push(...checkReplacement(spec, path.child('podReplacementPolicy')))
  errors.push(...checkPodTemplate(spec.template ?? {}, path.child('template'), rules))
  errors.push(...checkRestartPolicy(spec, path.child('template', 'spec', 'restartPolicy'), rules))
  return errors
}

function checkRestartPolicy(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const policy: string = spec.template?.spec?.restartPolicy ?? ''
  const isDefault = policy === 'Always' || policy === ''
  if (isDefault && rules.has(missingPolicyIsRequired)) {
    return [required(path, 'valid values: "OnFailure", "Never"')]
  }
  if (policy !== 'OnFailure' && policy !== 'Never') {
    return [notSupported(path, policy, ['OnFailure', 'Never'])]
  }
  if (!spec.podFailurePolicy || policy === 'Never') return []
  return [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')]
}

const pathForm = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"

/** `example.com/controller` */
function checkManager(name: string, path: FieldPath): FieldError[] {
  const errors = checkDomainPrefixedPath(name, path)
  return longerThan(name, managerLengthMax)
    ? [...errors, tooLong(path, name, managerLengthMax)]
    : errors
}

function checkDomainPrefixedPath(name: string, path: FieldPath): FieldError[] {
  if (name === '') return [required(path)]
  const slash = name.indexOf('/')
  const [domain, rest] = [name.slice(0, Math.max(slash, 0)), name.slice(slash + 1)]
  if (domain === '' || rest === '') {
    return [invalid(path, name, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  }
  const errors = each(path, domain, dns1123Subdomain(domain))
  if (new RegExp(`^${pathForm}$`).test(rest)) return errors
  const detail = `Invalid path (regex used for validation is '${pathForm}')`
  return [...errors, invalid(path, rest, detail)]
}

function checkCompletionMode(spec: Loose, path: FieldPath): FieldError[] {
  const mode: string | undefined = spec.completionMode ?? undefined
  const errors: FieldError[] = []
  if (mode !== undefined && !completionModes.includes(mode)) {
    errors.push(notSupported(path.child('completionMode'), mode, completionModes))
  }
  if (mode === 'Indexed') errors.push(...checkIndexed(spec, path))
  if (mode === undefined || mode === 'NonIndexed') {
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
      if (!isSet(spec[field])) continue
      errors.push(invalid(path.child(field), spec[field], 'requires indexed completion mode'))
    }
  }
  return errors
}

function checkIndexed(spec: Loose, path: FieldPath): FieldError[] {
  const { completions, maxFailedIndexes: failed } = spec
  const errors: FieldError[] = []
  const atMost = (field: string, limit: number, when: string) => {
    if (!(spec[field] > limit)) return
    errors.push(
      invalid(path.child(field), spec[field], `must be less than or equal to ${limit}${when}`),
    )
  }
  if (!isSet(completions)) {
    errors.push(required(path.child('completions'), 'when completion mode is Indexed'))
  }
  atMost('parallelism', indexedParallelismMax, ' when completion mode is Indexed')
  const failedPath = path.child('maxFailedIndexes')
  if (isSet(completions) && failed > completions) {
    errors.push(invalid(failedPath, failed, 'must be less than or equal to completions'))
  }
  atMost('maxFailedIndexes', failedIndexesMax, '')
  if (!(completions > manyCompletions) || !isSet(spec.backoffLimitPerIndex)) return errors
  if (!isSet(failed)) {
    const detail = `must be specified when completions is above ${manyCompletions}`
    errors.push(required(failedPath, detail))
  }
  const when = ` when completions are above ${manyCompletions} and used with backoff limit per index`
  atMost('parallelism', manyCompletionsMax, when)
  atMost('maxFailedIndexes', manyCompletionsMax, when)
  return errors
}

/** With a podFailurePolicy, only `Failed` is a valid replacement policy. */
function checkReplacement(spec: Loose, path: FieldPath): FieldError[] {
  const policy: string | undefined = spec.podReplacementPolicy ?? undefined
  if (policy === undefined) return []
  const allowed = spec.podFailurePolicy ? ['Failed'] : replacementPolicies
  return allowed.includes(policy) ? [] : [notSupported(path, policy, allowed)]
}
