/** Deployment: replicas of a template, replaced bit by bit when the template changes. */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goPointer, goQuote, goStruct } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { validateNonnegative } from '#api/object-meta-rules.ts'
import { sameJson, samePart } from '#kinds/all-kinds/checks.ts'
import { checkAtMost100Percent, checkIntOrPercent } from '#kinds/all-kinds/int-or-percent.ts'
import { checkFinalizerNames, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { podRules, type PodRules } from '#kinds/pod-template/pod-rules.ts'
import { templateWarnings } from '#kinds/pod-template/pod-warnings.ts'
import { prepareTemplate } from '#kinds/pod-template/prepare-template.ts'
import { keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import { rollbackKey } from './conversions.ts'
import type { Behaviour, Context, SubresourceBehaviour } from '#kinds/kind.ts'
import { podNameWarnings } from '#kinds/workloads/pod-name-warnings.ts'
import { dropTerminating } from '#kinds/workloads/replicas.ts'
import { checkReplicatedTemplate } from '#kinds/workloads/replicated-template.ts'
import { amountOf, shownAmount } from '#kinds/workloads/rolling-update.ts'
import {
  checkSelector,
  checkSelectorUnchanged,
  goLabelSelector,
  trySelector,
} from '#kinds/workloads/selectors.ts'
import { checkCollisions, checkCounts, checkParts } from '#kinds/workloads/status-numbers.ts'
import { annotationNumberError } from '#kinds/workloads/written-numbers.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')
const templatePath = specPath.child('template')
const warnings = templateWarnings(templatePath, ({ spec }) => spec.template)

function checkSpec(
  object: KubeObject,
  path: FieldPath,
  rules: PodRules,
  old?: KubeObject,
): FieldError[] {
  const spec: Loose = object.spec
  const { replicas = 0, minReadySeconds = 0 } = spec
  const errors = [
    ...validateNonnegative(replicas, path.child('replicas')),
    ...checkSelector(spec.selector, 'deployment', path.child('selector'), rules),
  ]
  const selector = trySelector(spec.selector)
  if (selector === undefined) {
    const shown = goLabelSelector(spec.selector)
    errors.push(invalid(path.child('selector'), shown, 'invalid label selector'))
  } else {
    const at = path.child('template')
    errors.push(
      ...checkReplicatedTemplate(
        spec.template,
        selector,
        replicas,
        'ReplicaSet',
        at,
        rules,
        old?.spec.template,
      ),
    )
  }
  errors.push(...checkStrategy(spec.strategy ?? {}, path.child('strategy')))
  errors.push(...validateNonnegative(minReadySeconds, path.child('minReadySeconds')))
  errors.push(
    ...validateNonnegative(spec.revisionHistoryLimit ?? 0, path.child('revisionHistoryLimit')),
  )
  errors.push(...checkRollback(object, path.child('rollback', 'version')))
  const deadline = spec.progressDeadlineSeconds ?? undefined
  if (deadline === undefined) return errors
  const at = path.child('progressDeadlineSeconds')
  errors.push(...validateNonnegative(deadline, at))
  if (deadline <= minReadySeconds) {
    errors.push(invalid(at, deadline, 'must be greater than minReadySeconds'))
  }
  return errors
}

function checkRollback(object: KubeObject, path: FieldPath): FieldError[] {
  const revision = object.metadata.annotations?.[rollbackKey]
  return revision ? validateNonnegative(Number(revision), path) : []
}

const strategyTypes = ['Recreate', 'RollingUpdate']

function checkStrategy(strategy: Loose, path: FieldPath): FieldError[] {
  const { type = '', rollingUpdate } = strategy
  const at = path.child('rollingUpdate')
  if (type === 'Recreate') {
    const detail = "may not be specified when strategy `type` is 'Recreate'"
    return rollingUpdate ? [forbidden(at, detail)] : []
  }
  if (type !== 'RollingUpdate') {
    const shown = goStruct('apps.DeploymentStrategy', [
      ['Type', goQuote(type)],
      ['RollingUpdate', goPointer('apps.RollingUpdateDeployment', rollingUpdate)],
    ])
    return [notSupported(path, asGo(shown), strategyTypes)]
  }
  if (!rollingUpdate) return [required(at, 'this should be defaulted and never be nil')]
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate
  const errors = [
    ...checkIntOrPercent(maxUnavailable, at.child('maxUnavailable')),
    ...checkIntOrPercent(maxSurge, at.child('maxSurge')),
  ]
  if (amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0) {
    const detail = 'may not be 0 when `maxSurge` is 0'
    errors.push(invalid(at.child('maxUnavailable'), shownAmount(maxUnavailable), detail))
  }
  errors.push(...checkAtMost100Percent(maxUnavailable, at.child('maxUnavailable')))
  return errors
}

/** Versions in which a selector may still change. */
const changeableSelector = ['apps/v1beta1', 'extensions/v1beta1']

const status: SubresourceBehaviour = {
  prepareForUpdate(next, old, context) {
    keepSpec(next, old)
    dropTerminating(next, old, context)
    if (old.metadata.labels === undefined) delete next.metadata.labels
    else next.metadata.labels = structuredClone(old.metadata.labels)
  },
  validateUpdate(next, old) {
    const after: Loose = next.status ?? {}
    const counts = [
      'observedGeneration',
      'replicas',
      'updatedReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'terminatingReplicas',
      'collisionCount',
    ]
    return [
      ...checkMetadataUpdate(next, old),
      ...checkCounts(after, counts, statusPath),
      ...checkParts(after, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], statusPath),
      ...checkCollisions(after, old.status ?? {}, statusPath),
    ]
  },
  resetFields: [['spec'], ['metadata', 'labels']],
}

const rulesOf = (next: KubeObject, old: KubeObject | undefined, context: Context): PodRules =>
  podRules(context, next.spec?.template, old?.spec?.template)

export const deploymentBehaviour: Behaviour = {
  prepareForCreate(object, context) {
    object.status = {}
    object.metadata.generation = 1
    prepareTemplate(object.spec.template, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    prepareTemplate(next.spec.template, old.spec.template, context)
    const same =
      samePart(next.spec, old.spec) &&
      sameJson(next.metadata.annotations ?? {}, old.metadata.annotations ?? {})
    if (!same) next.metadata.generation = (old.metadata.generation ?? 0) + 1
  },
  validateCreate: (object, context) => [
    ...checkFinalizerNames(object),
    ...checkSpec(object, specPath, rulesOf(object, undefined, context)),
  ],
  validateUpdate(next, old, context) {
    const errors = [
      ...checkMetadataUpdate(next, old),
      ...checkSpec(next, specPath, rulesOf(next, old, context), old),
    ]
    if (changeableSelector.includes(context.requestApiVersion ?? '')) return errors
    const at = specPath.child('selector')
    return [...errors, ...checkSelectorUnchanged(next.spec.selector, old.spec.selector, at)]
  },
  warningsOnCreate: (object, context) => [
    ...podNameWarnings(object, context),
    ...warnings.warningsOnCreate(object, context),
  ],
  warningsOnUpdate: warnings.warningsOnUpdate,
  resetFields: [['status']],
  subresources: { status },
  conversionError: annotationNumberError(
    rollbackKey,
    (text, why) => `failed to parse annotation[${rollbackKey}]=${text} as int64: ${why}`,
    '',
  ),
  conversionAnnotations: [rollbackKey],
}
