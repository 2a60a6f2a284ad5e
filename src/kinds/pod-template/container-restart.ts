/** Validation of the restart policies and resize policies of containers. */
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooMany,
} from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import type { PodRules } from './pod-rules.ts'

const policies = ['Always', 'Never', 'OnFailure']
const operators = ['In', 'NotIn']
/** Most rules of one container, and most exit codes of one rule. */
const rulesMax = 20
const exitCodesMax = 255

/** A sidecar: an init container that keeps running next to the regular containers. */
export const isSidecar = (container: Loose): boolean => container.restartPolicy === 'Always'

const isSet = (value: unknown): boolean => value !== undefined && value !== null

const rulesOf = (container: Loose): Loose[] => container.restartPolicyRules ?? []

/** Whether containers other than sidecars have their own restart policy. */
export const usesRestartRules = (spec: Loose): boolean =>
  ((spec.containers ?? []) as Loose[]).some(({ restartPolicy }) => isSet(restartPolicy)) ||
  ((spec.initContainers ?? []) as Loose[]).some(
    (container) =>
      rulesOf(container).length > 0 || (isSet(container.restartPolicy) && !isSidecar(container)),
  )

/** Sidecars have rules only where a rule may restart all containers. */
const usesRestartOfAll = (spec: Loose): boolean =>
  [...(spec.containers ?? []), ...(spec.initContainers ?? [])].some((container: Loose) =>
    rulesOf(container).some(({ action }) => action === 'RestartAllContainers'),
  ) ||
  ((spec.initContainers ?? []) as Loose[]).some(
    (container) => isSidecar(container) && rulesOf(container).length > 0,
  )

export const allowsRestartRules = ({ feature, old }: PodRules): boolean =>
  feature('ContainerRestartRules') || (old !== undefined && usesRestartRules(old))

export const allowsRestartOfAll = ({ feature, old }: PodRules): boolean =>
  feature('RestartAllContainersOnContainerExits') || (old !== undefined && usesRestartOfAll(old))

/** The policy of a container that is no init container. */
export function checkRestartPolicy(
  container: Loose,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const policy: string | undefined = container.restartPolicy ?? undefined
  if (policy === undefined && rulesOf(container).length === 0) return []
  if (allowsRestartRules(rules)) return checkPolicyAndRules(container, path, rules)
  const detail = 'may not be set for non-init containers'
  return policy === undefined ? [] : [forbidden(path.child('restartPolicy'), detail)]
}

export function checkInitRestartPolicy(
  container: Loose,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const policy: string | undefined = container.restartPolicy ?? undefined
  const count = rulesOf(container).length
  if (policy === undefined) return count === 0 ? [] : [policyRequired(path)]
  if (!allowsRestartRules(rules)) {
    if (policy === 'Always') return []
    return [notSupported(path.child('restartPolicy'), policy, ['Always'])]
  }
  if (policy !== 'Always' || allowsRestartOfAll(rules)) {
    return checkPolicyAndRules(container, path, rules)
  }
  const detail = 'restartPolicyRules are not allowed for init containers with restart policy Always'
  return count === 0 ? [] : [forbidden(path.child('restartPolicyRules'), detail)]
}

const policyRequired = (path: FieldPath): FieldError =>
  required(path.child('restartPolicy'), 'must specify restartPolicy when restart rules are used')

function checkPolicyAndRules(container: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors: FieldError[] = []
  const policy: string | undefined = container.restartPolicy ?? undefined
  if (policy === undefined) errors.push(policyRequired(path))
  else if (!policies.includes(policy)) {
    errors.push(notSupported(path.child('restartPolicy'), policy, policies))
  }
  const at = path.child('restartPolicyRules')
  const all = rulesOf(container)
  if (all.length > rulesMax) errors.push(tooMany(at, all.length, rulesMax))
  const actions = ['Restart', ...(allowsRestartOfAll(rules) ? ['RestartAllContainers'] : [])]
  all.forEach((rule, i) => {
    errors.push(...checkRule(rule, actions, at.index(i)))
  })
  return errors
}

function checkRule(rule: Loose, actions: readonly string[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const action: string = rule.action ?? ''
  if (!actions.includes(action)) errors.push(notSupported(path.child('action'), action, actions))
  const at = path.child('exitCodes')
  if (!rule.exitCodes) return [...errors, required(at, 'must be specified')]
  const { operator = '', values } = rule.exitCodes
  if (!operators.includes(operator)) {
    errors.push(notSupported(at.child('operator'), operator, operators))
  }
  const count = values?.length ?? 0
  if (count > exitCodesMax) errors.push(tooMany(at.child('values'), count, exitCodesMax))
  return errors
}

const resizable = ['cpu', 'memory']
const resizePolicies = ['NotRequired', 'RestartContainer']

/** All but duplicates are reported at the path of the list. */
export function checkResizePolicy(
  policiesOfContainer: Loose[] | null | undefined,
  path: FieldPath,
  podPolicy: string,
): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  ;(policiesOfContainer ?? []).forEach(({ resourceName = '', restartPolicy = '' }, i) => {
    if (seen.has(resourceName)) errors.push(duplicate(path.index(i), resourceName))
    seen.add(resourceName)
    if (resourceName === '') errors.push(required(path))
    else if (!resizable.includes(resourceName)) {
      errors.push(notSupported(path, resourceName, resizable))
    }
    if (restartPolicy === '') errors.push(required(path))
    else if (!resizePolicies.includes(restartPolicy)) {
      errors.push(notSupported(path, restartPolicy, resizePolicies))
    }
    if (podPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      const detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
      errors.push(invalid(path, restartPolicy, detail))
    }
  })
  return errors
}
