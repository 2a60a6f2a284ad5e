/**
 * The strategy of pods: the status starts as Pending, few fields may change, and deletion is
 * graceful.
 */
import { type FieldError, forbidden } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { dns1123Label } from '#api/names.ts'
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import { copyData } from '#base/copy-data.ts'
import { checkFinalizerNames } from '#kinds/all-kinds/metadata.ts'
import {
  keepField,
  keepObjectMetaForStatus,
  keepStatus,
  raiseGeneration,
} from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context, SubresourceBehaviour } from '#kinds/kind.ts'
import { dropDisabledPodFields } from '#kinds/pod-template/dropped-fields.ts'
import { statusWarnings } from './pod-addresses.ts'
import { dropDisabledStatusFields } from './dropped-status-fields.ts'
import { checkEphemeralContainersUpdate } from './ephemeral-update.ts'
import { isKnownValid, rememberValid } from './validated-pod-cache.ts'
import {
  agreeOnPodIps,
  agreeOnServiceAccount,
  dropInitContainerAnnotations,
} from '#kinds/pod-template/normal-form.ts'
import { podRules, type Template } from '#kinds/pod-template/pod-rules.ts'
import { checkPod } from '#kinds/pod-template/pod-spec.ts'
import { checkPodResize, keepAllButResources } from './pod-resize.ts'
import { checkPodStatusUpdate } from './pod-status.ts'
import { checkPodUpdate } from './pod-update.ts'
import {
  appArmorIsField,
  checkAppArmorAgreement,
  syncAppArmor,
} from '#kinds/pod-template/app-armor.ts'
import { mergeLabelKeys } from '#kinds/pod-template/label-keys.ts'
import { defaultPodResources } from '#kinds/pod-template/pod-resources.ts'
import { podTermsOf } from '#kinds/pod-template/scheduling.ts'
import { podWarnings } from '#kinds/pod-template/pod-warnings.ts'
import { qosClassOf } from './qos-class.ts'
import { checkSeccompAgreement, syncSeccomp } from '#kinds/pod-template/seccomp.ts'

const syncsSeccomp = change(
  'seccomp annotations of pods become fields, and fields become annotations',
  { since: 19, until: 26 },
)
const showsGates = change('new pods with scheduling gates have the condition PodScheduled', {
  since: 30,
})
const subresourcesKeepMetadata = change(
  'metadata of pods other than managed fields stays in changes of ephemeral containers',
  { since: 33 },
)
const recommendsLabels = change('names of pods that are no DNS label have a warning', { since: 27 })
const keepsClass = change('a status of a pod without qosClass keeps the old one', { since: 32 })
const keepsClaims = change('a status of a pod without claims keeps the old ones', { since: 37 })
const warnsOfStatus = change('addresses of pods in unusual form have a warning in their status', {
  since: 33,
})
const keepsObserved = change('a status of a pod without observedGeneration keeps the old one', {
  since: 33,
})
const negativeGraceIsOne = change('a negative grace period of a deleted pod counts as one second', {
  since: 22,
})

const podsHaveGeneration = change('pods have a generation', { since: 33 })

const specPath = FieldPath.of('spec')

/** A pod as the rules see it. */
const asTemplate = (pod: KubeObject): Template => ({ spec: pod.spec, metadata: pod.metadata })

const rulesOf = (next: KubeObject, old: KubeObject, context: Context) =>
  podRules(context, asTemplate(next), asTemplate(old), true)

function prepareForCreate(pod: KubeObject, context: Context): void {
  const { has } = releaseOf(context.release)
  const { feature } = context
  if (has(podsHaveGeneration)) pod.metadata.generation = 1
  agreeOnServiceAccount(pod.spec)
  dropInitContainerAnnotations(pod.metadata)
  dropDisabledPodFields(pod, undefined, context)
  const parts = { metadata: pod.metadata, spec: pod.spec as Loose }
  if (has(syncsSeccomp)) syncSeccomp(parts, feature('EphemeralContainers'))
  mergeLabelKeys(parts, podTermsOf(pod.spec), { has, feature })
  if (has(appArmorIsField)) for (const warning of syncAppArmor(parts)) context.warn?.(warning)
  if (feature('PodLevelResources') && feature('PodLevelResourcesFixDefaulting')) {
    defaultPodResources(pod.spec, { has, limits: true })
  }
  pod.status = { phase: 'Pending', qosClass: qosClassOf(pod.spec, feature) }
  const isGated = (pod.spec.schedulingGates ?? []).length > 0
  if (isGated && has(showsGates)) pod.status.conditions = [gatedCondition(context.now)]
}

const gatedCondition = (now: string): Loose => ({
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: now,
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
})

/** Files are readable by all and writable by their owner. */
const fileModeDefault = 0o644

/** Token volumes come from the ServiceAccount plugin, which does not set defaultMode. */
function readBack({ spec }: KubeObject): void {
  for (const { projected, secret } of (spec?.volumes ?? []) as Loose[]) {
    if (projected) projected.defaultMode ??= fileModeDefault
    if (secret) secret.defaultMode ??= fileModeDefault
  }
}

function prepareForUpdate(next: KubeObject, old: KubeObject, context: Context): void {
  agreeOnServiceAccount(next.spec)
  dropInitContainerAnnotations(next.metadata)
  keepStatus(next, old)
  keepPodResources(next, old, context)
  dropDisabledPodFields(next, old, context)
  countChange(next, old, context)
}

/** Clients that do not know the resources of a whole pod do not remove them. */
function keepPodResources(next: KubeObject, old: KubeObject, { feature }: Context): void {
  if (!feature('PodLevelResourcesFixDefaulting')) return
  if (!next.spec.resources && old.spec.resources) next.spec.resources = copyData(old.spec.resources)
}

/** Pods that an older release stored have no generation: their first change makes it 1. */
function countChange(next: KubeObject, old: KubeObject, { release }: Context): void {
  if (releaseOf(release).has(podsHaveGeneration)) raiseGeneration(next, old, ['spec'])
}

function validateCreate(pod: KubeObject, context: Context): FieldError[] {
  if (isKnownValid(pod, context)) return checkFinalizerNames(pod)
  const errors = checkNew(pod, context)
  if (errors.length === 0) rememberValid(pod, context)
  return [...checkFinalizerNames(pod), ...errors]
}

function checkNew(pod: KubeObject, context: Context): FieldError[] {
  const rules = podRules(context, asTemplate(pod), undefined, true)
  const errors = checkPod(pod, rules)
  if ((pod.spec.ephemeralContainers ?? []).length > 0) {
    errors.push(forbidden(specPath.child('ephemeralContainers'), 'cannot be set on create'))
  }
  if (pod.spec.nodeName && (pod.spec.schedulingGates ?? []).length > 0) {
    const detail = 'cannot be set until all schedulingGates have been cleared'
    errors.push(forbidden(specPath.child('nodeName'), detail))
  }
  const { ephemeralContainers } = rules
  errors.push(...checkSeccompAgreement(pod.metadata, pod.spec, specPath, ephemeralContainers))
  errors.push(...checkAppArmorAgreement(pod.metadata, pod.spec, specPath))
  return errors
}

const validateUpdate = (next: KubeObject, old: KubeObject, context: Context): FieldError[] =>
  checkPodUpdate(next, old, rulesOf(next, old, context))

/**
 * Fields without a value select as the empty string; in kube-apiserver the list of addresses never
 * has one.
 */
function selectableFields(pod: KubeObject): Record<string, string> {
  const { spec = {}, status = {} }: Loose = pod
  return {
    'spec.nodeName': spec.nodeName ?? '',
    'spec.host': spec.nodeName ?? '',
    'spec.restartPolicy': spec.restartPolicy ?? '',
    'spec.schedulerName': spec.schedulerName ?? '',
    'spec.serviceAccountName': spec.serviceAccountName ?? '',
    'spec.hostNetwork': String(spec.hostNetwork ?? false),
    'status.phase': status.phase ?? '',
    'status.podIP': status.podIPs?.[0]?.ip ?? '',
    'status.podIPs': '',
    'status.nominatedNodeName': status.nominatedNodeName ?? '',
  }
}

/** A pod that runs nowhere, or has ended, needs no time to end. */
function gracePeriodSeconds(
  pod: KubeObject,
  asked: number | bigint | undefined,
  context: Context,
): number | bigint {
  const { spec = {}, status = {} }: Loose = pod
  if (!spec.nodeName || status.phase === 'Failed' || status.phase === 'Succeeded') return 0
  const seconds: number | bigint = asked ?? spec.terminationGracePeriodSeconds ?? 0
  return seconds < 0 && releaseOf(context.release).has(negativeGraceIsOne) ? 1 : seconds
}

/** Kubelets of older releases do not know all of a status. */
function keepUnknownStatus(next: Loose, old: Loose, has: Release['has']): void {
  if (has(keepsClass)) next.qosClass ||= old.qosClass
  if (has(keepsClaims)) {
    for (const field of claimStatuses) {
      if (next[field] === undefined && old[field] !== undefined) next[field] = copyData(old[field])
    }
  }
  if (!has(keepsObserved)) return
  next.observedGeneration ||= old.observedGeneration
  const seen = new Map<string, (number | undefined)[]>()
  for (const { type = '', observedGeneration } of (old.conditions ?? []) as Loose[]) {
    seen.set(type, [...(seen.get(type) ?? []), observedGeneration])
  }
  for (const condition of (next.conditions ?? []) as Loose[]) {
    const before = seen.get(condition.type ?? '')?.shift()
    condition.observedGeneration ||= before
  }
  dropUnset(next, ['qosClass', 'observedGeneration'])
  for (const condition of next.conditions ?? []) dropUnset(condition, ['observedGeneration'])
}

const claimStatuses = [
  'resourceClaimStatuses',
  'extendedResourceClaimStatus',
  'nodeAllocatableResourceClaimStatuses',
]

function dropUnset(holder: Loose, fields: readonly string[]): void {
  for (const field of fields) if (holder[field] === undefined) delete holder[field]
}

const status: SubresourceBehaviour = {
  prepareForUpdate(next, old, context) {
    keepField(next, old, 'spec')
    delete next.metadata.deletionTimestamp
    if (old.metadata.ownerReferences === undefined) delete next.metadata.ownerReferences
    else next.metadata.ownerReferences = copyData(old.metadata.ownerReferences)
    next.status ??= {}
    keepUnknownStatus(next.status, old.status ?? {}, releaseOf(context.release).has)
    agreeOnPodIps(next.status)
    dropDisabledStatusFields(next.status, { status: old.status ?? {}, spec: old.spec }, context)
  },
  validateUpdate: (next, old, context) =>
    checkPodStatusUpdate(next, old, rulesOf(next, old, context)),
  warningsOnUpdate: (next, _old, { release }) =>
    releaseOf(release).has(warnsOfStatus) ? statusWarnings(next, release) : [],
  resetFields: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
}

const ephemeralContainers: SubresourceBehaviour = {
  prepareForUpdate(next, old, context) {
    const { name, namespace, resourceVersion, uid, managedFields } = next.metadata
    const { metadata } = next
    const containers = next.spec.ephemeralContainers
    Object.assign(next, copyData(old))
    if (releaseOf(context.release).has(subresourcesKeepMetadata)) {
      next.metadata = metadata
      keepObjectMetaForStatus(next, old)
    } else {
      Object.assign(next.metadata, { name, namespace, resourceVersion, uid })
      if (managedFields !== undefined) next.metadata.managedFields = managedFields
    }
    if (containers === undefined) delete next.spec.ephemeralContainers
    else next.spec.ephemeralContainers = containers
    dropDisabledPodFields(next, old, context)
    countChange(next, old, context)
  },
  validateUpdate(next, old, context) {
    const rules = rulesOf(next, old, context)
    return checkEphemeralContainersUpdate(next, old, specPath.child('ephemeralContainers'), rules)
  },
}

const resize: SubresourceBehaviour = {
  prepareForUpdate(next, old, context) {
    keepAllButResources(next, old, context)
    keepPodResources(next, old, context)
    const { feature } = context
    if (next.spec.resources && feature('PodLevelResourcesFixDefaulting')) {
      defaultPodResources(next.spec, { has: releaseOf(context.release).has, limits: true })
    }
    dropDisabledPodFields(next, old, context)
    countChange(next, old, context)
  },
  validateUpdate: (next, old, context) => checkPodResize(next, old, rulesOf(next, old, context)),
}

function warningsOnCreate(pod: KubeObject, context: Context): string[] {
  const problems = dns1123Label(pod.metadata.name ?? '')
  const warnings = podWarnings(pod, FieldPath.root, context)
  if (problems.length === 0 || !releaseOf(context.release).has(recommendsLabels)) return warnings
  const advice =
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended"
  return [`${advice}: [${problems.join(' ')}]`, ...warnings]
}

export const podBehaviour: Behaviour = {
  prepareForCreate,
  readBack,
  prepareForUpdate,
  validateCreate,
  validateUpdate,
  warningsOnCreate,
  resetFields: [['status']],
  selectableFields,
  gracePeriodSeconds,
  subresources: { status, ephemeralcontainers: ephemeralContainers, resize },
}
