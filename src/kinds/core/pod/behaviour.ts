/**
 * What only pods do: their status begins as Pending, little of them may change, and they are given
 * time to end.
 */
import { type FieldError, forbidden } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { copyData } from '#base/copy-data.ts'
import { checkFinalizerNames } from '#kinds/all-kinds/metadata.ts'
import { keepField, keepStatus, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context, SubresourceBehaviour } from '#kinds/kind.ts'
import { dropDisabledPodFields } from '#kinds/pod-template/dropped-fields.ts'
import { checkEphemeralContainersUpdate } from './ephemeral-containers.ts'
import { rememberValid, isKnownValid } from './validated-pod-cache.ts'
import {
  agreeOnPodIps,
  agreeOnServiceAccount,
  dropInitContainerAnnotations,
} from '#kinds/pod-template/normal-form.ts'
import { podRules, type Template } from '#kinds/pod-template/pod-rules.ts'
import { checkPod } from '#kinds/pod-template/pod-spec.ts'
import { checkPodStatusUpdate, checkPodUpdate } from './pod-update.ts'
import { podWarnings } from '#kinds/pod-template/pod-warnings.ts'
import { qosClassOf } from './qos-class.ts'
import { checkSeccompAgreement, syncSeccomp } from '#kinds/pod-template/seccomp.ts'

const syncsSeccomp = change(
  'seccomp annotations of pods become fields, and fields become annotations',
  { since: 19 },
)
const negativeGraceIsOne = change('a negative grace period of a deleted pod counts as one second', {
  since: 22,
})

const podsHaveGeneration = change('pods have a generation', { since: 33 })

const specPath = FieldPath.of('spec')

/** A pod as the rules see it. */
const asTemplate = (pod: KubeObject): Template => ({ spec: pod.spec, metadata: pod.metadata })

function prepareForCreate(pod: KubeObject, context: Context): void {
  if (releaseOf(context.release).has(podsHaveGeneration)) pod.metadata.generation = 1
  agreeOnServiceAccount(pod.spec)
  dropInitContainerAnnotations(pod.metadata)
  pod.status = { phase: 'Pending', qosClass: qosClassOf(pod.spec) }
  dropDisabledPodFields(pod, undefined, context)
  if (releaseOf(context.release).has(syncsSeccomp))
    syncSeccomp({ metadata: pod.metadata, spec: pod.spec }, context.feature('EphemeralContainers'))
}

/** Files are readable by all and writable by their owner. */
const fileModeDefault = 0o644

/** The volume of a token comes from a plugin, which leaves open what is the default. */
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
  dropDisabledPodFields(next, old, context)
  countChange(next, old, context)
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
  const rules = podRules(context, asTemplate(pod))
  const errors = checkPod(pod, rules)
  if ((pod.spec.ephemeralContainers ?? []).length > 0) {
    errors.push(forbidden(specPath.child('ephemeralContainers'), 'cannot be set on create'))
  }
  const { ephemeralContainers } = rules
  errors.push(...checkSeccompAgreement(pod.metadata, pod.spec, specPath, ephemeralContainers))
  return errors
}

const validateUpdate = (next: KubeObject, old: KubeObject, context: Context): FieldError[] =>
  checkPodUpdate(next, old, podRules(context, asTemplate(next), asTemplate(old)))

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

const status: SubresourceBehaviour = {
  prepareForUpdate(next, old) {
    keepField(next, old, 'spec')
    delete next.metadata.deletionTimestamp
    if (old.metadata.ownerReferences === undefined) delete next.metadata.ownerReferences
    else next.metadata.ownerReferences = copyData(old.metadata.ownerReferences)
    if (next.status) agreeOnPodIps(next.status)
  },
  validateUpdate: (next, old, context) =>
    checkPodStatusUpdate(next, old, podRules(context, asTemplate(next), asTemplate(old))),
  resetFields: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
}

const ephemeralContainers: SubresourceBehaviour = {
  prepareForUpdate(next, old, context) {
    const { name, namespace, resourceVersion, uid, managedFields } = next.metadata
    const containers = next.spec.ephemeralContainers
    Object.assign(next, copyData(old))
    Object.assign(next.metadata, { name, namespace, resourceVersion, uid })
    if (managedFields !== undefined) next.metadata.managedFields = managedFields
    if (containers === undefined) delete next.spec.ephemeralContainers
    else next.spec.ephemeralContainers = containers
    dropDisabledPodFields(next, old, context)
    countChange(next, old, context)
  },
  validateUpdate(next, old, context) {
    const rules = podRules(context, asTemplate(next), asTemplate(old))
    return checkEphemeralContainersUpdate(next, old, specPath.child('ephemeralContainers'), rules)
  },
}

export const podBehaviour: Behaviour = {
  prepareForCreate,
  readBack,
  prepareForUpdate,
  validateCreate,
  validateUpdate,
  warningsOnCreate: (created, context) => podWarnings(created, FieldPath.root, context),
  resetFields: [['status']],
  selectableFields,
  gracePeriodSeconds,
  subresources: { status, ephemeralcontainers: ephemeralContainers },
}
