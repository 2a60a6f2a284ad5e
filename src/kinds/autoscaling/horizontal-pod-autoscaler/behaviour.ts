/**
 * HorizontalPodAutoscaler, on autoscaling/v2 (v2beta2 before 1.23): bounds, metrics, and how fast
 * to scale.
 */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import { checkNotNegative } from '#kinds/all-kinds/checks.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { checkQuantityNotNegative } from '#kinds/all-kinds/resource-names.ts'
import { dropUnlessUsed, keepSpec, keepStatus, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import { autoscalerAnnotations, servesAutoscalingV2 } from './conversions.ts'
import { minimumIsUsual } from './defaults.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import {
  checkApiVersion,
  checkCrossVersionReference,
  checkMetric,
  hasInvalidApiVersion,
} from './metrics.ts'

const specPath = FieldPath.of('spec')
const scalesToZero = change('an autoscaler can scale to zero', { since: 16 })
const misspellsField = change('errors of autoscalers misspell status.desiredReplicas', {
  until: 16,
})
const nameOf = (field: string, release: number): string =>
  field === 'desiredReplicas' && releaseOf(release).has(misspellsField) ? 'desiredReplicasa' : field
const missingMaximumIsNamed = change('a missing spec.maxReplicas is reported as missing', {
  since: 36,
})
const targetsNeedGroups = change('the apiVersion of a scale target names its group', { since: 34 })
const conditionsAreCounted = change('conditions of autoscalers have an observedGeneration', {
  since: 37,
})
const stabilizationSecondsMax = 3600
const periodSecondsMax = 1800

function check(object: KubeObject, context: Context, old?: KubeObject): FieldError[] {
  const spec = object.spec ?? {}
  const toZero = context.feature('HPAScaleToZero') || old?.spec?.minReplicas === 0
  const min: number | undefined = minimumIsUsual(spec) ? undefined : spec.minReplicas
  const max: number = spec.maxReplicas ?? 0
  const errors: FieldError[] = []
  const lowest = toZero ? 0 : 1
  if (min !== undefined && min < lowest) {
    const detail = releaseOf(context.release).has(scalesToZero)
      ? `must be greater than or equal to ${lowest}`
      : 'must be greater than 0'
    errors.push(invalid(specPath.child('minReplicas'), min, detail))
  }
  const maxPath = specPath.child('maxReplicas')
  errors.push(...checkMaximum(max, maxPath, releaseOf(context.release)))
  if (min !== undefined && max < min) {
    errors.push(invalid(maxPath, max, 'must be greater than or equal to `minReplicas`'))
  }
  return [
    ...errors,
    ...checkScaleTarget(spec.scaleTargetRef ?? {}, context, old?.spec?.scaleTargetRef),
    ...checkMetrics(spec.metrics ?? [], min, context, old?.spec?.metrics),
    ...checkScaling(spec.behavior?.scaleUp, specPath.child('behavior', 'scaleUp')),
    ...checkScaling(spec.behavior?.scaleDown, specPath.child('behavior', 'scaleDown')),
  ]
}

function checkMaximum(max: number, path: FieldPath, release: Release): FieldError[] {
  if (max >= 1) return []
  if (!release.has(missingMaximumIsNamed)) return [invalid(path, max, 'must be greater than 0')]
  return max === 0
    ? [required(path, 'must be set and greater than 0')]
    : [invalid(path, max, 'must be greater than or equal to 1')]
}

/** An unchanged target may keep an apiVersion without a group. */
function checkScaleTarget(target: Loose, context: Context, old?: Loose): FieldError[] {
  const path = specPath.child('scaleTargetRef')
  const errors = checkCrossVersionReference(target, path)
  const isSame = ['apiVersion', 'kind'].every(
    (field) => (old?.[field] ?? '') === (target[field] ?? ''),
  )
  if (!releaseOf(context.release).has(targetsNeedGroups) || (old !== undefined && isSame)) {
    return errors
  }
  return [...errors, ...checkApiVersion(target, path, target.kind === 'ReplicationController')]
}

function checkMetrics(
  metrics: Loose[],
  min: number | undefined,
  context: Context,
  old: Loose[] = [],
): FieldError[] {
  const path = specPath.child('metrics')
  const isLenient =
    !releaseOf(context.release).has(targetsNeedGroups) || old.some(hasInvalidApiVersion)
  const errors = metrics.flatMap((metric, i) =>
    checkMetric(metric, path.index(i), context, isLenient),
  )
  const fromOutside = metrics.some(({ type }) => type === 'Object' || type === 'External')
  if (min === 0 && !fromOutside && releaseOf(context.release).has(scalesToZero)) {
    const detail =
      'must specify at least one Object or External metric to support scaling to zero replicas'
    errors.push(forbidden(path, detail))
  }
  return errors
}

function checkScaling(rules: Loose | undefined, path: FieldPath): FieldError[] {
  if (!rules) return []
  const { stabilizationWindowSeconds: seconds, selectPolicy } = rules
  const at = path.child('stabilizationWindowSeconds')
  const errors: FieldError[] = []
  if (seconds < 0) errors.push(invalid(at, seconds, 'must be greater than or equal to zero'))
  if (seconds > stabilizationSecondsMax) {
    errors.push(invalid(at, seconds, `must be less than or equal to ${stabilizationSecondsMax}`))
  }
  const choices = ['Disabled', 'Max', 'Min']
  if (selectPolicy !== undefined && !choices.includes(selectPolicy)) {
    errors.push(notSupported(path.child('selectPolicy'), selectPolicy, choices))
  }
  const policies: Loose[] = rules.policies ?? []
  const policiesPath = path.child('policies')
  if (policies.length === 0) {
    errors.push(required(policiesPath, 'must specify at least one Policy'))
  }
  errors.push(...policies.flatMap((one, i) => checkPolicy(one, policiesPath.index(i))))
  return rules.tolerance === undefined
    ? errors
    : [...errors, ...checkQuantityNotNegative(rules.tolerance, path.child('tolerance'))]
}

function checkPolicy(policy: Loose, path: FieldPath): FieldError[] {
  const { type = '', value = 0, periodSeconds = 0 } = policy
  const errors: FieldError[] = []
  const types = ['Percent', 'Pods']
  if (!types.includes(type)) errors.push(notSupported(path.child('type'), type, types))
  const positive = 'must be greater than zero'
  if (value <= 0) errors.push(invalid(path.child('value'), value, positive))
  const at = path.child('periodSeconds')
  if (periodSeconds <= 0) errors.push(invalid(at, periodSeconds, positive))
  if (periodSeconds > periodSecondsMax) {
    errors.push(invalid(at, periodSeconds, `must be less than or equal to ${periodSecondsMax}`))
  }
  return errors
}

function dropDisabled(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const then: Loose[] = old?.spec?.metrics ?? []
  const used = then.some((metric) => metric.containerResource)
  const enabled = context.feature('HPAContainerMetrics')
  for (const metric of (next.spec?.metrics ?? []) as Loose[]) {
    dropUnlessUsed(metric, 'containerResource', enabled, used)
  }
  const isTolerant = context.feature('HPAConfigurableTolerance')
  const rulesOf = (object: KubeObject | undefined): Loose[] =>
    ['scaleUp', 'scaleDown'].flatMap((field) => object?.spec?.behavior?.[field] ?? [])
  const wasTolerant = rulesOf(old).some((rules) => rules.tolerance !== undefined)
  for (const rules of rulesOf(next)) dropUnlessUsed(rules, 'tolerance', isTolerant, wasTolerant)
}

const emptyStatus = (release: Release): Loose =>
  release.has(servesAutoscalingV2)
    ? { desiredReplicas: 0, currentMetrics: null }
    : { currentReplicas: 0, desiredReplicas: 0, currentMetrics: null, conditions: null }

function checkObservedGenerations(object: KubeObject, release: Release): FieldError[] {
  if (!release.has(conditionsAreCounted)) return []
  const path = FieldPath.of('status', 'conditions')
  return (object.status?.conditions ?? []).flatMap((condition: Loose, i: number) =>
    checkNotNegative(condition.observedGeneration, path.index(i).child('observedGeneration')),
  )
}

export const horizontalPodAutoscalerBehaviour: Behaviour = {
  resetFields: [['status']],
  prepareForCreate(object, context) {
    object.status = emptyStatus(releaseOf(context.release))
    if (context.feature('HPAGeneration')) object.metadata.generation = 1
    dropDisabled(object, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    dropDisabled(next, old, context)
    keepStatus(next, old)
    if (context.feature('HPAGeneration')) raiseGeneration(next, old, ['spec'])
  },
  declaredOption: (gate, old) =>
    gate === 'HPAScaleToZero' && old?.spec?.minReplicas === 0 ? true : undefined,
  validateCreate: (object, context) => check(object, context),
  validateUpdate: (next, old, context) => [
    ...checkMetadataUpdate(next, old),
    ...check(next, context, old),
  ],
  subresources: {
    status: {
      resetFields: [['spec']],
      prepareForUpdate: keepSpec,
      validateUpdate: (next, old, { release }) => [
        ...checkMetadataUpdate(next, old),
        ...checkObservedGenerations(next, releaseOf(release)),
        ...['currentReplicas', 'desiredReplicas'].flatMap((field) =>
          checkNotNegative(next.status?.[field], FieldPath.of('status', nameOf(field, release))),
        ),
      ],
    },
  },
  conversionAnnotations: autoscalerAnnotations,
}
