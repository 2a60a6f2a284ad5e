/**
 * Where a pod may run: affinity to nodes and pods, tolerated taints, and spreading over topologies.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { validateLabelName, validateLabelSelector } from '#api/label-rules.ts'
import { labelValue, nameIsDnsLabel } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { goToleration } from './go-values.ts'
import { checkNodeAffinity, checkWeight } from './node-affinity.ts'

export function checkAffinity(
  affinity: Loose | null | undefined,
  path: FieldPath,
  release: number,
): FieldError[] {
  if (!affinity) return []
  const errors: FieldError[] = []
  if (affinity.nodeAffinity) {
    errors.push(...checkNodeAffinity(affinity.nodeAffinity, path.child('nodeAffinity')))
  }
  for (const field of ['podAffinity', 'podAntiAffinity']) {
    if (affinity[field]) {
      errors.push(...checkPodAffinity(affinity[field], path.child(field), release))
    }
  }
  return errors
}

function checkPodAffinity(affinity: Loose, path: FieldPath, release: number): FieldError[] {
  const needed = 'requiredDuringSchedulingIgnoredDuringExecution'
  const wanted = 'preferredDuringSchedulingIgnoredDuringExecution'
  const terms: Loose[] = affinity[needed] ?? []
  const weighted: Loose[] = affinity[wanted] ?? []
  return [
    ...terms.flatMap((term, i) => checkPodTerm(term, path.child(needed).index(i), release)),
    ...weighted.flatMap((term, i) => {
      const at = path.child(wanted).index(i)
      return [
        ...checkWeight(term.weight ?? 0, at.child('weight')),
        ...checkPodTerm(term.podAffinityTerm ?? {}, at.child('podAffinityTerm'), release),
      ]
    }),
  ]
}

const namesSelector = change('errors of pod affinity name labelSelector', { since: 21 })

function checkPodTerm(term: Loose, path: FieldPath, release: number): FieldError[] {
  const selector = releaseOf(release).has(namesSelector) ? 'labelSelector' : 'matchExpressions'
  const errors = [
    ...validateLabelSelector(term.labelSelector, path.child(selector)),
    ...validateLabelSelector(term.namespaceSelector, path.child('namespaceSelector')),
  ]
  for (const name of (term.namespaces ?? []) as string[]) {
    errors.push(...each(path.child('namespace'), name, nameIsDnsLabel(name, false)))
  }
  const key: string = term.topologyKey ?? ''
  if (key === '') errors.push(required(path.child('topologyKey'), 'can not be empty'))
  errors.push(...validateLabelName(key, path.child('topologyKey')))
  return errors
}

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export function checkTolerations(
  tolerations: Loose[] | null | undefined,
  path: FieldPath,
): FieldError[] {
  return (tolerations ?? []).flatMap((toleration, i) => checkToleration(toleration, path.index(i)))
}

function checkToleration(toleration: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const { key = '', operator = '', value = '', effect = '' } = toleration
  if (key !== '') errors.push(...validateLabelName(key, path.child('key')))
  else if (operator !== 'Exists') {
    const detail =
      'operator must be Exists when `key` is empty, which means "match all values and all keys"'
    errors.push(invalid(path.child('operator'), operator, detail))
  }
  if ((toleration.tolerationSeconds ?? undefined) !== undefined && effect !== 'NoExecute') {
    const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
    errors.push(invalid(path.child('effect'), effect, detail))
  }
  if (operator === 'Equal' || operator === '') {
    const problems = labelValue(value)
    if (problems.length > 0) {
      errors.push(invalid(path.child('operator'), value, problems.join(';')))
    }
  } else if (operator === 'Exists') {
    const detail = "value must be empty when `operator` is 'Exists'"
    if (value !== '') errors.push(invalid(path.child('operator'), goToleration(toleration), detail))
  } else {
    errors.push(notSupported(path.child('operator'), operator, ['Equal', 'Exists']))
  }
  if (effect !== '' && !taintEffects.includes(effect)) {
    errors.push(notSupported(path.child('effect'), effect, taintEffects))
  }
  return errors
}

/** Tolerations of a pod can be added, and last longer or shorter; nothing else of them changes. */
export function checkOnlyAddedTolerations(
  next: Loose[] | null | undefined,
  old: Loose[] | null | undefined,
  path: FieldPath,
): FieldError[] {
  const textOf = ({ key, operator, value, effect }: Loose) =>
    JSON.stringify([key, operator, value, effect].map((part) => part || null))
  const kept = new Set((next ?? []).map(textOf))
  for (const before of old ?? []) {
    if (kept.has(textOf(before))) continue
    const detail = 'existing toleration can not be modified except its tolerationSeconds'
    return [forbidden(path, detail)]
  }
  return checkTolerations(next, path)
}

const unsatisfiable = ['DoNotSchedule', 'ScheduleAnyway']

export function checkTopologySpread(
  constraints: Loose[] | null | undefined,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  const all = constraints ?? []
  const keyOf = (constraint: Loose) =>
    `{${constraint.topologyKey ?? ''}, ${constraint.whenUnsatisfiable ?? ''}}`
  const lastPlace = new Map(all.map((constraint, i) => [keyOf(constraint), i]))
  all.forEach((constraint, i) => {
    const at = path.index(i)
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable: action = '' } = constraint
    if (maxSkew <= 0)
      errors.push(invalid(at.child('maxSkew'), maxSkew, 'must be greater than zero'))
    if (topologyKey === '') errors.push(required(at.child('topologyKey'), 'can not be empty'))
    if (!unsatisfiable.includes(action)) {
      errors.push(notSupported(at.child('whenUnsatisfiable'), action, unsatisfiable))
    }
    const key = keyOf(constraint)
    if (lastPlace.get(key) !== i) {
      errors.push(duplicate(at.child('{topologyKey, whenUnsatisfiable}'), key))
    }
  })
  return errors
}
