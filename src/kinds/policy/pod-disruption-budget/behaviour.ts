/**
 * The behaviour of PodDisruptionBudget on its hub version policy/v1: validates spec and status,
 * drops fields of disabled gates, raises the generation, and protects the status.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, type GoPart, goPointer, goStruct } from '#api/go-syntax.ts'
import { checksSelectorValues, validateLabelSelector } from '#api/label-rules.ts'
import { nameIsPathSegment } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { checkNotNegative, checkOneOfIfSet, samePart } from '#kinds/all-kinds/checks.ts'
import { checkConditions } from '#kinds/all-kinds/conditions.ts'
import { checkAtMost100Percent, checkIntOrPercent } from '#kinds/all-kinds/int-or-percent.ts'
import { dropUnlessUsed, keepSpec, keepStatus, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import { goLabelSelector } from '#kinds/workloads/selectors.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { stripBudgetLabel } from './conversions.ts'
import { storedLabelIsShown } from './defaults.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')
const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']

const unhealthyPodsCanGo = change('budgets can let pods go that are not healthy', { since: 26 })
const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget']

function checkSpec(budget: KubeObject, context: Context, old?: KubeObject): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = budget.spec ?? {}
  const release = releaseOf(context.release)
  const errors: FieldError[] = []
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const fields: [string, GoPart][] = [
      ['MinAvailable', goPointer('intstr.IntOrString', minAvailable)],
      ['Selector', goPointer('v1.LabelSelector', goLabelSelector(selector))],
      ['MaxUnavailable', goPointer('intstr.IntOrString', maxUnavailable)],
    ]
    if (release.has(unhealthyPodsCanGo)) {
      const policy = goPointer('policy.UnhealthyPodEvictionPolicyType', unhealthyPodEvictionPolicy)
      fields.push(['UnhealthyPodEvictionPolicy', policy])
    }
    const nameOf = goStruct('policy.PodDisruptionBudgetSpec', fields)
    const detail = 'minAvailable and maxUnavailable cannot be both set'
    errors.push(invalid(specPath, asGo(nameOf), detail))
  }
  for (const [field, value] of Object.entries({ minAvailable, maxUnavailable })) {
    if (value === undefined) continue
    errors.push(...checkIntOrPercent(value, specPath.child(field)))
    errors.push(...checkAtMost100Percent(value, specPath.child(field)))
  }
  const checkValues = checksSelectorValues(release, old?.spec.selector)
  return [
    ...errors,
    ...validateLabelSelector(selector, specPath.child('selector'), checkValues),
    ...checkOneOfIfSet(
      unhealthyPodEvictionPolicy,
      evictionPolicies,
      specPath.child('unhealthyPodEvictionPolicy'),
    ),
  ]
}

const validatesStatusUpdates = change("updates of a budget's status are validated", { since: 21 })
const longerName = change(
  'errors of a budget call status.disruptionsAllowed podDisruptionsAllowed',
  { until: 17 },
)

function checkCounts({ status = {} }: KubeObject, { release }: Context): FieldError[] {
  const nameOf = (field: string) =>
    field === 'disruptionsAllowed' && releaseOf(release).has(longerName)
      ? 'podDisruptionsAllowed'
      : field
  return counts.flatMap((field) => checkNotNegative(status[field], statusPath.child(nameOf(field))))
}

function checkSpecAndCounts(budget: KubeObject, context: Context, old?: KubeObject): FieldError[] {
  const errors = checkSpec(budget, context, old)
  return releaseOf(context.release).has(validatesStatusUpdates)
    ? errors
    : [...errors, ...checkCounts(budget, context)]
}

function checkStatus(next: KubeObject, context: Context): FieldError[] {
  if (!releaseOf(context.release).has(validatesStatusUpdates)) return []
  const { conditions = [] } = next.status ?? {}
  const errors = checkConditions(
    conditions,
    statusPath.child('conditions'),
    releaseOf(context.release),
  )
  if (context.requestApiVersion === 'policy/v1beta1') return errors
  return [...errors, ...checkCounts(next, context)]
}

const emptyStatus = () => Object.fromEntries(counts.map((field) => [field, 0]))

/**
 * Removes fields of disabled feature gates. Since 1.37 it also removes the label of v1beta1's empty
 * selectors from a changed selector.
 */
function dropDisabledFields(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const { selector } = next.spec
  const isUsed = (old?.spec.unhealthyPodEvictionPolicy ?? undefined) !== undefined
  const gate = 'PDBUnhealthyPodEvictionPolicy'
  dropUnlessUsed(next.spec, 'unhealthyPodEvictionPolicy', context.feature(gate), isUsed)
  if (!releaseOf(context.release).has(storedLabelIsShown)) return
  if (old === undefined || !samePart(selector, old.spec.selector)) stripBudgetLabel(selector)
}

export const podDisruptionBudgetBehaviour: Behaviour = {
  nameRule: nameIsPathSegment,
  metadataLast: true,
  unconditionalUpdate: false,
  resetFields: [['status']],
  prepareForCreate(object, context) {
    object.status = emptyStatus()
    object.metadata.generation = 1
    dropDisabledFields(object, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    dropDisabledFields(next, old, context)
    raiseGeneration(next, old, ['spec'])
  },
  validateCreate: (object, context) => checkSpecAndCounts(object, context),
  validateUpdate: (next, old, context) => checkSpecAndCounts(next, context, old),
  subresources: {
    status: {
      resetFields: [['spec']],
      prepareForUpdate: keepSpec,
      validateUpdate: (next, _old, context) => checkStatus(next, context),
    },
  },
}
