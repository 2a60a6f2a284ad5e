/** How a job reacts to failed pods: rules by exit codes of containers and by conditions of pods. */
import {
  duplicate,
  type FieldError,
  invalid,
  invalidUnshown,
  notSupported,
  required,
  tooMany,
} from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { goList, goQuote } from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'
import { change } from '#api/releases/change.ts'
import { checkQualifiedName, listAsWritten } from '#kinds/all-kinds/checks.ts'
import type { PodRules } from '#kinds/pod-template/pod-rules.ts'

const indexesCanFail = change('a job can limit retries and failures of each index', {
  since: 28,
})

const rulesMax = 20
const exitCodesMax = 255
const patternsMax = 20
const operators = ['In', 'NotIn']
const statuses = ['False', 'True', 'Unknown']

const actionsOf = (rules: PodRules): string[] =>
  rules.has(indexesCanFail)
    ? ['Count', 'FailIndex', 'FailJob', 'Ignore']
    : ['Count', 'FailJob', 'Ignore']

const validValues = (values: readonly string[]): string =>
  `valid values: [${values.map(goQuote).join(' ')}]`

function checkWord(word: string, allowed: readonly string[], path: FieldPath): FieldError[] {
  if (word === '') return [required(path, validValues(allowed))]
  return allowed.includes(word) ? [] : [notSupported(path, word, allowed)]
}

export function checkPodFailurePolicy(job: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const all: Loose[] = job.podFailurePolicy.rules ?? []
  const at = path.child('rules')
  const { containers, initContainers }: Loose = job.template?.spec ?? {}
  const names = new Set<string>(
    [...(containers ?? []), ...(initContainers ?? [])].map(({ name }: Loose) => name ?? ''),
  )
  return [
    ...(all.length > rulesMax ? [tooMany(at, all.length, rulesMax)] : []),
    ...all.flatMap((rule, i) => checkRule(job, rule, at.index(i), names, rules)),
  ]
}

function checkRule(
  job: Loose,
  rule: Loose,
  path: FieldPath,
  names: ReadonlySet<string>,
  rules: PodRules,
): FieldError[] {
  const errors: FieldError[] = []
  const action: string = rule.action ?? ''
  const actionPath = path.child('action')
  if (action === 'FailIndex' && rules.has(indexesCanFail)) {
    if ((job.backoffLimitPerIndex ?? undefined) === undefined) {
      errors.push(invalid(actionPath, action, 'requires the backoffLimitPerIndex to be set'))
    }
  } else {
    errors.push(...checkWord(action, actionsOf(rules), actionPath))
  }
  const { onExitCodes } = rule
  const onPodConditions: Loose[] = rule.onPodConditions ?? []
  if (onExitCodes) errors.push(...checkExitCodes(onExitCodes, path.child('onExitCodes'), names))
  if (onPodConditions.length > 0) {
    errors.push(...checkPatterns(onPodConditions, path.child('onPodConditions')))
  }
  const both = 'OnExitCodes and OnPodConditions is'
  if (onExitCodes && onPodConditions.length > 0) {
    errors.push(invalidUnshown(path, `specifying both ${both} not supported`))
  }
  if (!onExitCodes && onPodConditions.length === 0) {
    errors.push(invalidUnshown(path, `specifying one of ${both} required`))
  }
  return errors
}

function checkPatterns(patterns: Loose[], path: FieldPath): FieldError[] {
  return [
    ...(patterns.length > patternsMax ? [tooMany(path, patterns.length, patternsMax)] : []),
    ...patterns.flatMap(({ type = '', status = '' }, i) => [
      ...checkQualifiedName(type, path.index(i).child('type')),
      ...checkWord(status, statuses, path.index(i).child('status')),
    ]),
  ]
}

function checkExitCodes(
  requirement: Loose,
  path: FieldPath,
  names: ReadonlySet<string>,
): FieldError[] {
  const { operator = '', containerName } = requirement
  const written = listAsWritten<number>(requirement, 'values')
  const errors = checkWord(operator, operators, path.child('operator'))
  if (typeof containerName === 'string' && !names.has(containerName)) {
    const detail = 'must be one of the container or initContainer names in the pod template'
    errors.push(invalid(path.child('containerName'), containerName, detail))
  }
  const values: number[] = written ?? []
  const at = path.child('values')
  const shown = goList('int32', written?.map(String))
  if (values.length === 0) errors.push(invalid(at, shown, 'at least one value is required'))
  else if (values.length > exitCodesMax) errors.push(tooMany(at, values.length, exitCodesMax))
  const seen = new Set<number>()
  values.forEach((value, i) => {
    if (operator === 'In' && value === 0) {
      errors.push(invalid(at.index(i), value, 'must not be 0 for the In operator'))
    }
    if (seen.has(value)) errors.push(duplicate(at.index(i), value))
    seen.add(value)
  })
  const isOrdered = values.every((value, i) => i === 0 || (values[i - 1] as number) <= value)
  if (!isOrdered) errors.push(invalid(at, shown, 'must be ordered'))
  return errors
}
