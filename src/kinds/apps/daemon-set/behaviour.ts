/** DaemonSet: strategy and validation. */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goPointer, goQuote, goStruct } from '#api/go-syntax.ts'
import { checksSelectorValues, validateLabelSelector } from '#api/label-rules.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { validateNonnegative } from '#api/object-meta-rules.ts'
import { errorsShowJson } from '#api/release-words.ts'
import { releaseOf } from '#api/releases/change.ts'
import { samePart } from '#kinds/all-kinds/checks.ts'
import {
  checkAtMost100Percent,
  checkIntOrPercent,
  type IntOrString,
} from '#kinds/all-kinds/int-or-percent.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import {
  checkFinalizerNames,
  checkMetadata,
  checkMetadataUpdate,
} from '#kinds/all-kinds/metadata.ts'
import { podRules, type PodRules } from '#kinds/pod-template/pod-rules.ts'
import { checkPodTemplate } from '#kinds/pod-template/pod-spec.ts'
import { podWarnings } from '#kinds/pod-template/pod-warnings.ts'
import { prepareTemplate } from '#kinds/pod-template/prepare-template.ts'
import { keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context, SubresourceBehaviour } from '#kinds/kind.ts'
import {
  checkReadOnlyDisks,
  checkRunsForever,
  setsAreCheckedOnce,
} from '#kinds/workloads/replicated-template.ts'
import { amountOf, shownAmount } from '#kinds/workloads/rolling-update.ts'
import {
  checkSelected,
  checkSelectorUnchanged,
  goLabelSelector,
  isEmptySelector,
  trySelector,
} from '#kinds/workloads/selectors.ts'
import { checkCollisions, checkCounts } from '#kinds/workloads/status-numbers.ts'
import { annotationNumberError } from '#kinds/workloads/written-numbers.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')
const templatePath = specPath.child('template')

/** The number of templates there have been: once a field, now this annotation. */
const generationKey = 'deprecated.daemonset.template.generation'

/** Undefined if it is not set, or a plugin has set it to something else than a number. */
function templateGeneration(object: KubeObject): number | undefined {
  const annotations = object.metadata.annotations
  if (annotations === undefined || !Object.hasOwn(annotations, generationKey)) return undefined
  const number = Number(annotations[generationKey])
  return Number.isNaN(number) ? undefined : number
}

function setTemplateGeneration(object: KubeObject, generation: number): void {
  const others = Object.entries(object.metadata.annotations ?? {})
  const entries = [
    ...others.filter(([key]) => key !== generationKey),
    [generationKey, String(generation)],
  ]
  entries.sort(([a], [b]) => ((a as string) < (b as string) ? -1 : 1))
  object.metadata.annotations = Object.fromEntries(entries)
}

function checkSpec(
  object: KubeObject,
  path: FieldPath,
  rules: PodRules,
  context: Context,
  old?: KubeObject,
): FieldError[] {
  const spec: Loose = object.spec
  const template: Loose = spec.template ?? {}
  const at = path.child('template')
  const checkValues = checksSelectorValues(rules, old?.spec.selector)
  const errors = validateLabelSelector(spec.selector, path.child('selector'), checkValues)
  const selector = trySelector(spec.selector)
  if (selector !== undefined) errors.push(...checkSelected(selector, template, at))
  if (spec.selector && isEmptySelector(spec.selector)) {
    const detail = 'empty selector is invalid for daemonset'
    errors.push(invalid(path.child('selector'), goLabelSelector(spec.selector), detail))
  }
  errors.push(
    ...checkPodTemplate(template, at, rules),
    ...checkReadOnlyDisks(template, at, rules, old?.spec.template),
    ...checkRunsForever(template.spec ?? {}, 'DaemonSet', at.child('spec')),
    ...validateNonnegative(spec.minReadySeconds ?? 0, path.child('minReadySeconds')),
    ...validateNonnegative(templateGeneration(object) ?? 0, path.child('templateGeneration')),
    ...checkStrategy(spec.updateStrategy ?? {}, path.child('updateStrategy'), context),
    ...validateNonnegative(spec.revisionHistoryLimit ?? 0, path.child('revisionHistoryLimit')),
  )
  return errors
}

function checkStrategy(strategy: Loose, path: FieldPath, context: Context): FieldError[] {
  const { type = '', rollingUpdate } = strategy
  if (type === 'OnDelete') return []
  const at = path.child('rollingUpdate')
  if (type !== 'RollingUpdate') {
    const shown = goStruct('apps.DaemonSetUpdateStrategy', [
      ['Type', goQuote(type)],
      ['RollingUpdate', goPointer('apps.RollingUpdateDaemonSet', rollingUpdate)],
    ])
    const strategyShown = releaseOf(context.release).has(errorsShowJson)
      ? internalValue('io.k8s.api.apps.v1.DaemonSetUpdateStrategy', strategy)
      : asGo(shown)
    return [notSupported(path, strategyShown, ['RollingUpdate', 'OnDelete'])]
  }
  if (!rollingUpdate) return [required(at)]
  const unavailable: IntOrString = rollingUpdate.maxUnavailable ?? 0
  if (!context.feature('DaemonSetUpdateSurge')) {
    const errors = checkIntOrPercent(unavailable, at.child('maxUnavailable'))
    if (amountOf(unavailable) === 0) {
      errors.push(invalid(at.child('maxUnavailable'), shownAmount(unavailable), 'cannot be 0'))
    }
    return [...errors, ...checkAtMost100Percent(unavailable, at.child('maxUnavailable'))]
  }
  return checkSurge(unavailable, rollingUpdate.maxSurge ?? 0, at)
}

function checkSurge(unavailable: IntOrString, surge: IntOrString, path: FieldPath): FieldError[] {
  const errors = [
    ...checkIntOrPercent(unavailable, path.child('maxUnavailable')),
    ...checkIntOrPercent(surge, path.child('maxSurge')),
    ...checkAtMost100Percent(unavailable, path.child('maxUnavailable')),
    ...checkAtMost100Percent(surge, path.child('maxSurge')),
  ]
  const hasUnavailable = amountOf(unavailable) !== 0
  const hasSurge = amountOf(surge) !== 0
  if (hasUnavailable && hasSurge) {
    const detail = 'may not be set when maxUnavailable is non-zero'
    errors.push(invalid(path.child('maxSurge'), shownAmount(surge), detail))
  } else if (!hasUnavailable && !hasSurge) {
    errors.push(required(path.child('maxUnavailable'), 'cannot be 0 when maxSurge is 0'))
  }
  return errors
}

function dropDisabledFields(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const rolling = next.spec.updateStrategy?.rollingUpdate
  if (!rolling || context.feature('DaemonSetUpdateSurge')) return
  const before = old?.spec.updateStrategy?.rollingUpdate?.maxSurge
  if (before !== undefined && before !== 0 && before !== '') {
    if (rolling.maxUnavailable === '0%') rolling.maxUnavailable = 1
  } else if (rolling.maxSurge !== undefined) {
    rolling.maxSurge = 0
  }
}

const status: SubresourceBehaviour = {
  prepareForUpdate(next, old) {
    keepSpec(next, old)
    setTemplateGeneration(next, templateGeneration(old) ?? 0)
  },
  validateUpdate(next, old) {
    const counts = [
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
      'observedGeneration',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberUnavailable',
      'collisionCount',
    ]
    return [
      ...checkMetadataUpdate(next, old),
      ...checkCounts(next.status ?? {}, counts, statusPath),
      ...checkCollisions(next.status ?? {}, old.status ?? {}, statusPath),
    ]
  },
  resetFields: [['spec']],
}

const rulesOf = (next: KubeObject, old: KubeObject | undefined, context: Context): PodRules =>
  podRules(context, next.spec?.template, old?.spec?.template)

export const daemonSetBehaviour: Behaviour = {
  conversionError: annotationNumberError(generationKey),
  prepareForCreate(object, context) {
    object.status = {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    }
    object.metadata.generation = 1
    setTemplateGeneration(object, Math.max(1, templateGeneration(object) ?? 0))
    dropDisabledFields(object, undefined, context)
    prepareTemplate(object.spec.template, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    dropDisabledFields(next, old, context)
    prepareTemplate(next.spec.template, old.spec.template, context)
    keepStatus(next, old)
    const before = templateGeneration(old) ?? 0
    const sameTemplate = samePart(next.spec.template, old.spec.template)
    setTemplateGeneration(next, sameTemplate ? before : before + 1)
    if (sameTemplate && samePart(next.spec, old.spec)) return
    next.metadata.generation = (old.metadata.generation ?? 0) + 1
  },
  validateCreate: (object, context) => [
    ...checkFinalizerNames(object),
    ...checkSpec(object, specPath, rulesOf(object, undefined, context), context),
  ],
  validateUpdate(next, old, context) {
    const rules = rulesOf(next, old, context)
    const check = () => checkSpec(next, specPath, rules, context, old)
    const at = specPath.child('selector')
    const selector = checkSelectorUnchanged(next.spec.selector, old.spec.selector, at)
    if (rules.has(setsAreCheckedOnce)) {
      return [...checkMetadataUpdate(next, old), ...selector, ...check()]
    }
    const errors = [
      ...checkMetadata(next, true, nameIsDnsSubdomain),
      ...check(),
      ...checkMetadataUpdate(next, old),
      ...check(),
    ]
    return context.requestApiVersion === 'extensions/v1beta1' ? errors : [...errors, ...selector]
  },
  warningsOnCreate: (object, context) => podWarnings(object.spec.template, templatePath, context),
  warningsOnUpdate: (next, old, context) =>
    templateGeneration(next) === templateGeneration(old)
      ? []
      : podWarnings(next.spec.template, templatePath, context),
  resetFields: [['status']],
  subresources: { status },
  conversionAnnotations: [generationKey],
}
