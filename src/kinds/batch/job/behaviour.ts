/** Job: pods run until enough of them have succeeded. Its selector is made from its uid unless told otherwise. */
import { change, releaseOf } from '#api/releases/change.ts'
import { duplicate, type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goQuote, goStringMap } from '#api/go-syntax.ts'
import { validateLabelSelector } from '#api/label-rules.ts'
import { matchesLabels } from '#api/label-selector.ts'
import { dns1123Label, labelValue, nameIsDnsSubdomain } from '#api/names.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage, validateImmutable } from '#api/object-meta-rules.ts'
import { each, samePart } from '#kinds/all-kinds/checks.ts'
import {
  checkFinalizerNames,
  checkMetadata,
  checkMetadataUpdate,
} from '#kinds/all-kinds/metadata.ts'
import { podRules, type PodRules } from '#kinds/pod-template/pod-rules.ts'
import { templateWarnings } from '#kinds/pod-template/pod-warnings.ts'
import { prepareTemplate } from '#kinds/pod-template/prepare-template.ts'
import { keepSpec, keepStatus, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context, SubresourceBehaviour } from '#kinds/kind.ts'
import { checkJobSpec } from '#kinds/workloads/job-spec.ts'
import {
  checkSelected,
  checkSelectorUnchanged,
  goLabelSelector,
  trySelector,
} from '#kinds/workloads/selectors.ts'
import { checkCounts } from '#kinds/workloads/status-numbers.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')
const templatePath = specPath.child('template')
const uidLabel = 'controller-uid'
const nameLabel = 'job-name'
const trackingKey = 'batch.kubernetes.io/job-tracking'
const jobsHaveGeneration = change('jobs have a generation', { since: 22 })

/**
 * Labels pods and selector by the job's uid, once it has one; what is set already stays. The template's labels are
 * changed in place: where the job took its own from them, they are one map.
 */
function generateSelector(job: KubeObject): void {
  const { name = '', uid = '' } = job.metadata
  const { spec } = job
  spec.template.metadata ??= {}
  spec.template.metadata.labels ??= {}
  addSorted(spec.template.metadata.labels, [
    [nameLabel, name],
    [uidLabel, uid],
  ])
  // Only now does every template have some.
  shareLabels(job)
  spec.selector ??= {}
  spec.selector.matchLabels ??= {}
  addSorted(spec.selector.matchLabels, [[uidLabel, uid]])
}

/** A job without labels has its template's; one map where the template's were written, if only empty. */
function shareLabels({ metadata, spec }: KubeObject): void {
  const { labels } = spec.template?.metadata ?? {}
  if (!labels || Object.keys(metadata.labels ?? {}).length > 0) return
  const isShared = wasWrittenEmpty(spec.template.metadata, 'labels')
  metadata.labels = isShared ? labels : { ...labels }
}

/** Labels the job shares with its template got the job's name just now; the name may be too long for a label. */
function checkSharedLabels(job: KubeObject): FieldError[] {
  const { labels } = job.metadata
  if (labels === undefined || labels !== job.spec.template.metadata?.labels) return []
  const value = labels[nameLabel] ?? ''
  return each(FieldPath.of('metadata', 'labels'), value, labelValue(value))
}

/** Adds what is missing, keeping the keys in order; keys are the user's, so they are defined, not assigned. */
function addSorted(
  map: Record<string, string>,
  added: readonly (readonly [string, string])[],
): void {
  const entries = new Map<string, string>([...added, ...Object.entries(map)])
  for (const key of Object.keys(map)) delete map[key]
  for (const [key, value] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) {
    Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true })
  }
}

function checkGeneratedSelector(job: KubeObject): FieldError[] {
  const { spec } = job
  if (spec.manualSelector === true || !spec.selector) return []
  const { name = '', uid = '' } = job.metadata
  const errors: FieldError[] = []
  if (uid === '') errors.push(required(FieldPath.of('metadata', 'uid')))
  const labels: Record<string, string> | undefined = spec.template?.metadata?.labels
  for (const [key, value] of [
    [uidLabel, uid],
    [nameLabel, name],
  ] as const) {
    const at = templatePath.child('metadata', 'labels').key(key)
    if (labels === undefined || !Object.hasOwn(labels, key)) {
      errors.push(required(at, `must be '${value}'`))
    } else if (labels[key] !== value) {
      errors.push(invalid(at, asGo(goStringMap(labels)), `must be '${value}'`))
    }
  }
  const selector = trySelector(spec.selector)
  if (selector !== undefined && !matchesLabels(selector, { [uidLabel]: uid, [nameLabel]: name })) {
    const detail = '`selector` not auto-generated'
    errors.push(invalid(specPath.child('selector'), goLabelSelector(spec.selector), detail))
  }
  return errors
}

/** The specification and its selector. */
function checkSpec(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors = checkJobSpec(spec, path, rules)
  if (!spec.selector) errors.push(required(path.child('selector')))
  else errors.push(...validateLabelSelector(spec.selector, path.child('selector')))
  const selector = trySelector(spec.selector)
  if (selector !== undefined) {
    errors.push(...checkSelected(selector, spec.template ?? {}, path.child('template')))
  }
  return errors
}

const isTracked = (job: KubeObject): boolean =>
  Object.hasOwn(job.metadata.annotations ?? {}, trackingKey)

function checkJob(job: KubeObject, rules: PodRules, allowTracking: boolean): FieldError[] {
  const errors = [...checkGeneratedSelector(job), ...checkSpec(job.spec, specPath, rules)]
  if (!allowTracking && isTracked(job)) {
    const at = FieldPath.of('metadata', 'annotations').key(trackingKey)
    errors.push(forbidden(at, 'cannot add this annotation'))
  }
  const { completionMode, completions } = job.spec
  if (completionMode === 'Indexed' && completions > 0) {
    const name = job.metadata.name ?? ''
    const hostname = `${name}-${completions - 1}`
    if (dns1123Label(hostname).length > 0) {
      const detail = `will not able to create pod with invalid DNS label: ${hostname}`
      errors.push(invalid(FieldPath.of('metadata', 'name'), name, detail))
    }
  }
  return errors
}

function checkChange(next: Loose, old: Loose, rules: PodRules): FieldError[] {
  const errors = [
    ...checkSpec(next, specPath, rules),
    ...validateImmutable(next.completions, old.completions, specPath.child('completions')),
    ...checkSelectorUnchanged(next.selector, old.selector, specPath.child('selector')),
  ]
  if (!samePart(next.template, old.template)) {
    errors.push(invalid(templatePath, asGo('core.PodTemplateSpec{}'), immutableMessage))
  }
  const at = specPath.child('completionMode')
  errors.push(...validateImmutable(next.completionMode, old.completionMode, at))
  return errors
}

function dropDisabledFields(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const { spec } = next
  const before: Loose = old?.spec ?? {}
  const drop = (gate: string, field: string) => {
    if (!context.feature(gate) && (before[field] ?? undefined) === undefined) delete spec[field]
  }
  drop('TTLAfterFinished', 'ttlSecondsAfterFinished')
  drop('IndexedJob', 'completionMode')
  if (!context.feature('SuspendJob') && before.suspend !== true) {
    if (before.suspend === undefined) delete spec.suspend
    else spec.suspend = before.suspend
  }
}

/** Which jobs are counted by finalizers is the server's to say. */
function setTracking(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const tracking = context.feature('JobTrackingWithFinalizers')
  const { annotations } = next.metadata
  if (tracking) {
    if (old !== undefined) return
    next.metadata.annotations = annotations ?? {}
    addSorted(next.metadata.annotations, [[trackingKey, '']])
  } else if (annotations !== undefined && (old === undefined || !isTracked(old))) {
    delete annotations[trackingKey]
    if (Object.keys(annotations).length === 0) delete next.metadata.annotations
  }
}

function checkUncounted(status: Loose): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  const uncounted: Loose = status.uncountedTerminatedPods ?? {}
  for (const field of ['succeeded', 'failed']) {
    ;((uncounted[field] ?? []) as string[]).forEach((uid, i) => {
      const at = statusPath.child('uncountedTerminatedPods', field).index(i)
      if (uid === '') errors.push(invalid(at, uid, 'must not be empty'))
      else if (seen.has(uid)) errors.push(duplicate(at, uid))
      seen.add(uid)
    })
  }
  return errors
}

const status: SubresourceBehaviour = {
  prepareForUpdate(next, old) {
    keepSpec(next, old)
    shareLabels(next)
  },
  validateUpdate: (next, old) => [
    ...checkMetadataUpdate(next, old),
    ...checkCounts(next.status ?? {}, ['active', 'succeeded', 'failed'], statusPath),
    ...checkUncounted(next.status ?? {}),
  ],
  resetFields: [['spec']],
}

const rulesOf = (next: KubeObject, old: KubeObject | undefined, context: Context): PodRules =>
  podRules(context, next.spec?.template, old?.spec?.template)

export const jobBehaviour: Behaviour = {
  prepareForCreate(object, context) {
    object.status = {}
    if (releaseOf(context.release).has(jobsHaveGeneration)) object.metadata.generation = 1
    dropDisabledFields(object, undefined, context)
    setTracking(object, undefined, context)
    prepareTemplate(object.spec.template, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    dropDisabledFields(next, old, context)
    setTracking(next, old, context)
    prepareTemplate(next.spec.template, old.spec.template, context)
    if (releaseOf(context.release).has(jobsHaveGeneration)) raiseGeneration(next, old, ['spec'])
  },
  /** Name and uid are there only now, so the selector is made here. */
  validateCreate(object, context) {
    if (object.spec.manualSelector !== true) generateSelector(object)
    const allowTracking = context.feature('JobTrackingWithFinalizers')
    return [
      ...checkSharedLabels(object),
      ...checkFinalizerNames(object),
      ...checkJob(object, rulesOf(object, undefined, context), allowTracking),
    ]
  },
  validateUpdate(next, old, context) {
    const rules = rulesOf(next, old, context)
    return [
      ...checkMetadata(next, true, nameIsDnsSubdomain),
      ...checkJob(next, rules, isTracked(old)),
      ...checkMetadataUpdate(next, old),
      ...checkChange(next.spec, old.spec, rules),
    ]
  },
  ...templateWarnings(templatePath, ({ spec }) => spec.template),
  resetFields: [['status']],
  selectableFields: (object) => ({ 'status.successful': String(object.status?.succeeded ?? 0) }),
  unknownFieldText: (field) => `field label ${goQuote(field)} not supported for Job`,
  subresources: { status },
}
