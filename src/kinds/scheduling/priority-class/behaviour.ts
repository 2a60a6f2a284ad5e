/** PriorityClass: reserved names and values, and immutable fields. */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { dropUnlessUsed } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

const systemPrefix = 'system-'
const userPriorityMax = 1000000000
const systemClasses = new Map([
  ['system-node-critical', 2000001000],
  ['system-cluster-critical', 2000000000],
])
const preemptionPolicies = ['PreemptLowerPriority', 'Never']

/** Why an object is not the system class it is called; nothing when it is. */
function systemClassProblem(name: string, object: KubeObject): string | undefined {
  const value = systemClasses.get(name)
  if (value === undefined) return `${name} is not a known system priority class`
  if ((object.value ?? 0) !== value) return `value of ${name} PriorityClass must be ${value}`
  if (object.globalDefault) return `globalDefault of ${name} PriorityClass must be false`
  return undefined
}

function check(object: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const name = object.metadata.name ?? ''
  if (name.startsWith(systemPrefix)) {
    const problem = systemClassProblem(name, object)
    if (problem !== undefined) {
      const detail = `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${problem}`
      errors.push(forbidden('metadata.name', detail))
    }
  } else if ((object.value ?? 0) > userPriorityMax) {
    const detail = `maximum allowed value of a user defined priority is ${userPriorityMax}`
    errors.push(forbidden('value', detail))
  }
  const policy = object.preemptionPolicy
  if (policy === undefined || preemptionPolicies.includes(policy)) return errors
  errors.push(
    policy === ''
      ? required('preemptionPolicy')
      : notSupported('preemptionPolicy', policy, preemptionPolicies),
  )
  return errors
}

const pathIsExact = change('the error of a changed priority names the field value', { since: 25 })

const mayNotPreempt = (context: Context) => context.feature('NonPreemptingPriority')

export const priorityClassBehaviour: Behaviour = {
  prepareForCreate(object, context) {
    object.metadata.generation = 1
    dropUnlessUsed(object, 'preemptionPolicy', mayNotPreempt(context), false)
  },
  prepareForUpdate(next, old, context) {
    dropUnlessUsed(next, 'preemptionPolicy', mayNotPreempt(context), Boolean(old.preemptionPolicy))
  },
  validateCreate: check,
  validateUpdate(next, old, { release }) {
    const errors = checkMetadataUpdate(next, old)
    if ((next.value ?? 0) !== (old.value ?? 0)) {
      errors.push(
        forbidden(
          releaseOf(release).has(pathIsExact) ? 'value' : 'Value',
          'may not be changed in an update.',
        ),
      )
    }
    if (next.preemptionPolicy !== old.preemptionPolicy) {
      errors.push(invalid('preemptionPolicy', next.preemptionPolicy, immutableMessage))
    }
    return errors
  },
}
