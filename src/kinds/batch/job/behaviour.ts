/**
 * Job: pods run until enough of them have succeeded. Its selector is made from its uid unless the
 * client selects.
 */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import { checksSelectorValues, validateLabelSelector } from '#api/label-rules.ts'
import { dns1123Label, nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import {
  checkFinalizerNames,
  checkMetadata,
  checkMetadataUpdate,
} from '#kinds/all-kinds/metadata.ts'
import { keepSpec, keepStatus, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context, SubresourceBehaviour } from '#kinds/kind.ts'
import { podRules, type PodRules } from '#kinds/pod-template/pod-rules.ts'
import { prepareTemplate } from '#kinds/pod-template/prepare-template.ts'
import { checkJobSpec } from '#kinds/workloads/job-spec.ts'
import { dropDisabledJobFields, jobWarnings } from '#kinds/workloads/job-template.ts'
import { podNameWarnings } from '#kinds/workloads/pod-name-warnings.ts'
import { checkSelected, trySelector } from '#kinds/workloads/selectors.ts'
import {
  addSorted,
  checkGeneratedSelector,
  checkSharedLabels,
  generateSelector,
  shareLabels,
} from './job-selector.ts'
import { checkJobStatus } from './job-status.ts'
import { checkJobChange } from './job-update.ts'

const specPath = FieldPath.of('spec')
const trackingKey = 'batch.kubernetes.io/job-tracking'
const jobsHaveGeneration = change('jobs have a generation', { since: 22 })

const trackingIsMarked = change('an annotation marks jobs whose pods have finalizers', {
  until: 27,
})
const marksAreKept = change(
  'an update cannot remove the annotation of jobs whose pods have finalizers',
  {
    since: 26,
    until: 27,
  },
)
const updatesCheckOnce = change('updates of jobs check the specification once', { since: 37 })

/** The specification and its selector. */
function checkSpec(spec: Loose, path: FieldPath, rules: PodRules, old?: Loose): FieldError[] {
  const errors = checkJobSpec(spec, path, rules)
  const checkValues = checksSelectorValues(rules, old?.selector)
  if (!spec.selector) errors.push(required(path.child('selector')))
  else errors.push(...validateLabelSelector(spec.selector, path.child('selector'), checkValues))
  const selector = trySelector(spec.selector)
  if (selector !== undefined) {
    errors.push(...checkSelected(selector, spec.template ?? {}, path.child('template')))
  }
  return errors
}

const isTracked = (job: KubeObject): boolean =>
  Object.hasOwn(job.metadata.annotations ?? {}, trackingKey)

function checkTracking(job: KubeObject, isAllowed: boolean, rules: PodRules): FieldError[] {
  if (isAllowed || !isTracked(job) || !rules.has(trackingIsMarked)) return []
  const at = FieldPath.of('metadata', 'annotations').key(trackingKey)
  return [forbidden(at, 'cannot add this annotation')]
}

/** Pod names of an indexed job end in an index and must be valid host names. */
function checkPodNames({ metadata, spec }: KubeObject): FieldError[] {
  const { completionMode, completions } = spec
  if (completionMode !== 'Indexed' || !(completions > 0)) return []
  const name = metadata.name ?? ''
  const hostname = `${name}-${completions - 1}`
  if (dns1123Label(hostname).length === 0) return []
  const detail = `will not able to create pod with invalid DNS label: ${hostname}`
  return [invalid(FieldPath.of('metadata', 'name'), name, detail)]
}

/**
 * Sets or removes the annotation of jobs whose pods have a finalizer until they are counted. The
 * server decides, whatever the client wrote.
 */
function setTracking(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const release = releaseOf(context.release)
  if (!release.has(trackingIsMarked)) return
  const { annotations } = next.metadata
  if (context.feature('JobTrackingWithFinalizers')) {
    if (old !== undefined && !(release.has(marksAreKept) && isTracked(old))) return
    next.metadata.annotations = annotations ?? {}
    addSorted(next.metadata.annotations, [[trackingKey, '']])
  } else if (annotations !== undefined && (old === undefined || !isTracked(old))) {
    delete annotations[trackingKey]
    if (Object.keys(annotations).length === 0) delete next.metadata.annotations
  }
}

const status: SubresourceBehaviour = {
  prepareForUpdate(next, old) {
    keepSpec(next, old)
    shareLabels(next)
  },
  validateUpdate: (next, old, context) => [
    ...checkMetadataUpdate(next, old),
    ...checkJobStatus(next, old, context),
  ],
  resetFields: [['spec']],
}

const rulesOf = (next: KubeObject, old: KubeObject | undefined, context: Context): PodRules =>
  podRules(context, next.spec?.template, old?.spec?.template)

/** The selector is generated here, because name and uid are set only after preparation. */
function validateCreate(job: KubeObject, context: Context): FieldError[] {
  const release = releaseOf(context.release)
  const rules = rulesOf(job, undefined, context)
  if (job.spec.manualSelector !== true) generateSelector(job, release)
  return [
    ...checkSharedLabels(job, release),
    ...checkFinalizerNames(job),
    ...checkGeneratedSelector(job, release),
    ...checkSpec(job.spec, specPath, rules),
    ...checkTracking(job, context.feature('JobTrackingWithFinalizers'), rules),
    ...checkPodNames(job),
  ]
}

function validateUpdate(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const rules = rulesOf(next, old, context)
  const spec = () => checkSpec(next.spec, specPath, rules, old.spec)
  if (rules.has(updatesCheckOnce)) {
    return [
      ...checkMetadataUpdate(next, old),
      ...spec(),
      ...checkJobChange(next, old, context),
      ...checkPodNames(next),
    ]
  }
  return [
    ...checkMetadata(next, true, nameIsDnsSubdomain),
    ...checkGeneratedSelector(next, releaseOf(context.release), old),
    ...spec(),
    ...checkTracking(next, isTracked(old), rules),
    ...checkPodNames(next),
    ...checkMetadataUpdate(next, old),
    ...spec(),
    ...checkJobChange(next, old, context),
  ]
}

export const jobBehaviour: Behaviour = {
  prepareForCreate(object, context) {
    object.status = {}
    if (releaseOf(context.release).has(jobsHaveGeneration)) object.metadata.generation = 1
    dropDisabledJobFields(object.spec, undefined, context)
    setTracking(object, undefined, context)
    prepareTemplate(object.spec.template, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    dropDisabledJobFields(next.spec, old.spec, context)
    setTracking(next, old, context)
    prepareTemplate(next.spec.template, old.spec.template, context)
    if (releaseOf(context.release).has(jobsHaveGeneration)) raiseGeneration(next, old, ['spec'])
  },
  validateCreate,
  validateUpdate,
  warningsOnCreate: (object, context) => [
    ...podNameWarnings(object, context),
    ...jobWarnings(object.spec, specPath, context),
  ],
  warningsOnUpdate: (next, old, context) =>
    next.metadata.generation === old.metadata.generation
      ? []
      : jobWarnings(next.spec, specPath, context),
  resetFields: [['status']],
  selectableFields: (object) => ({ 'status.successful': String(object.status?.succeeded ?? 0) }),
  unknownFieldText: (field) => `field label ${goQuote(field)} not supported for Job`,
  subresources: { status },
}
