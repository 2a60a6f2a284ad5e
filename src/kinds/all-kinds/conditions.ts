/** Conditions of the shape all newer kinds share (metav1.Condition). */
import {
  duplicate,
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
} from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo, goJson, type GoText } from '#api/go-syntax.ts'
import { validateLabelName } from '#api/label-rules.ts'
import { conditionReason, longerThan } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { each } from './checks.ts'

const reasonLengthMax = 1024
const messageLengthMax = 32 * 1024
const statuses = ['False', 'True', 'Unknown']

const requiresWithoutDetail = change('conditions without a reason or time are plainly required', {
  since: 34,
})
const requiresTypeAndStatus = change('conditions without a type or status are required values', {
  since: 37,
})

const namesRepeatedItem = change('a repeated condition is an error of the item, not its type', {
  since: 37,
})

export function checkConditions(
  conditions: Loose[],
  path: FieldPath,
  release: Release,
): FieldError[] {
  const seen = new Set<string>()
  return conditions.flatMap((condition, i) => {
    const type: string = condition.type ?? ''
    const at = path.index(i)
    const error = () =>
      release.has(namesRepeatedItem) ? duplicate(at, type) : duplicate(at.child('type'), type)
    const twice = seen.has(type) ? [error()] : []
    seen.add(type)
    return [...twice, ...checkCondition(condition, at, release)]
  })
}

function checkCondition(condition: Loose, path: FieldPath, release: Release): FieldError[] {
  const { type = '', status = '', observedGeneration = 0, reason = '', message = '' } = condition
  const isPlain = release.has(requiresTypeAndStatus)
  const errors =
    isPlain && type === ''
      ? [required(path.child('type'), 'is required')]
      : validateLabelName(type, path.child('type'))
  if (isPlain && status === '') errors.push(required(path.child('status')))
  else if (!statuses.includes(status))
    errors.push(notSupported(path.child('status'), status, statuses))
  if (observedGeneration < 0) {
    const problem = 'must be greater than or equal to zero'
    errors.push(invalid(path.child('observedGeneration'), observedGeneration, problem))
  }
  const detail = release.has(requiresWithoutDetail) ? '' : 'must be set'
  if (!condition.lastTransitionTime) {
    errors.push(required(path.child('lastTransitionTime'), detail))
  }
  const at = path.child('reason')
  if (reason === '') errors.push(required(at, detail))
  else errors.push(...each(at, reason, conditionReason(reason)))
  if (longerThan(reason, reasonLengthMax)) errors.push(tooLong(at, reason, reasonLengthMax))
  if (longerThan(message, messageLengthMax)) {
    errors.push(tooLong(path.child('message'), message, messageLengthMax))
  }
  return errors
}

/** Conditions for messages. metav1.Condition has JSON tags, even in internal types. */
export const goConditions = (conditions: Loose[]): GoText =>
  asGo(
    '[]v1.Condition{…}',
    `[${conditions
      .map((one) => {
        const fields = ['type', 'status', 'lastTransitionTime', 'reason', 'message'].map(
          (name) => [name, one[name] ?? (name === 'lastTransitionTime' ? null : '')] as const,
        )
        if (one.observedGeneration)
          fields.splice(2, 0, ['observedGeneration', one.observedGeneration])
        return `{${fields.map(([name, value]) => `"${name}":${goJson(value)}`).join(',')}}`
      })
      .join(',')}]`,
  )
