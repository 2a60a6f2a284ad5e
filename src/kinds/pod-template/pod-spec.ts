/** The specification of a pod, in a pod or in a template: all rules that need nothing else. */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goQuote, goStrings, goStruct } from '#api/go-syntax.ts'
import { validateLabels } from '#api/label-rules.ts'
import { dns1123Label, nameIsDnsSubdomain, qualifiedName, rangeProblem } from '#api/names.ts'
import type { KubeObject, Loose, ObjectMeta } from '#api/object-meta.ts'
import { validateAnnotations } from '#api/object-meta-rules.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { checkContainers, checkImagesOfPod, checkInitContainers } from './containers.ts'
import { checkEphemeralContainers } from '#kinds/core/pod/ephemeral-containers.ts'
import { pageSizesOf } from './huge-pages.ts'
import { checkPodAnnotations } from './pod-annotations.ts'
import { checkDnsConfig, checkDnsPolicy, checkHostAliases } from './pod-dns.ts'
import type { PodRules } from './pod-rules.ts'
import { checkResources } from './resources.ts'
import { checkAffinity, checkTolerations, checkTopologySpread } from './scheduling.ts'
import { checkSeccompAgreement } from './seccomp.ts'
import { checkPodSecurityContext } from './security-context.ts'
import { checkVolumes } from './volumes.ts'
import { checkHostProcess } from './windows-options.ts'

const restartPolicies = ['Always', 'OnFailure', 'Never']
const preemptionPolicies = ['PreemptLowerPriority', 'Never']
const int32Max = 2147483647

/** `meta` is the pod's own; templates have none. */
function checkPodSpec(
  spec: Loose,
  meta: ObjectMeta | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const { volumes, errors } = checkVolumes(spec.volumes, meta, path.child('volumes'), rules)
  errors.push(
    ...checkContainers(spec.containers, false, volumes, path.child('containers'), rules),
    ...checkInitContainers(spec, volumes, path.child('initContainers'), rules),
    ...checkEphemeralContainers(spec, volumes, path.child('ephemeralContainers'), rules),
    ...checkWord(spec.restartPolicy ?? '', restartPolicies, path.child('restartPolicy')),
    ...checkDnsPolicy(spec.dnsPolicy, path.child('dnsPolicy')),
    ...validateLabels(spec.nodeSelector, path.child('nodeSelector')),
    ...checkPodSecurityContext(spec, path),
    ...checkAffinity(spec.affinity, path.child('affinity'), rules.release),
    ...checkDnsConfig(spec, path.child('dnsConfig'), rules),
    ...checkReadinessGates(spec.readinessGates, path.child('readinessGates')),
    ...checkTopologySpread(spec.topologySpreadConstraints, path.child('topologySpreadConstraints')),
    ...checkHostProcess(spec, path, rules),
    ...checkNames(spec, path, rules),
  )
  return errors
}

function checkWord(value: string, allowed: readonly string[], path: FieldPath): FieldError[] {
  if (value === '') return [required(path)]
  return allowed.includes(value) ? [] : [notSupported(path, value, allowed)]
}

function checkReadinessGates(gates: Loose[] | null | undefined, path: FieldPath): FieldError[] {
  return (gates ?? []).flatMap((gate, i) => {
    const type: string = gate.conditionType ?? ''
    return each(path.index(i).child('conditionType'), type, qualifiedName(type))
  })
}

/** Names of what the pod refers to, and the few numbers. */
function checkNames(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors: FieldError[] = []
  const subdomain = (field: string) => {
    const name: string = spec[field] ?? ''
    if (name !== '') errors.push(...each(path.child(field), name, nameIsDnsSubdomain(name, false)))
  }
  const label = (field: string) => {
    const name: string = spec[field] ?? ''
    if (name !== '') errors.push(...each(path.child(field), name, dns1123Label(name)))
  }
  subdomain('serviceAccountName')
  subdomain('nodeName')
  const deadline = spec.activeDeadlineSeconds ?? undefined
  if (deadline !== undefined && (deadline < 1 || deadline > int32Max)) {
    errors.push(invalid(path.child('activeDeadlineSeconds'), deadline, rangeProblem(1, int32Max)))
  }
  label('hostname')
  label('subdomain')
  errors.push(...checkTolerations(spec.tolerations, path.child('tolerations')))
  errors.push(...checkHostAliases(spec.hostAliases, path.child('hostAliases')))
  subdomain('priorityClassName')
  const runtimeClass = spec.runtimeClassName ?? undefined
  if (runtimeClass !== undefined) {
    const problems = nameIsDnsSubdomain(runtimeClass, false)
    errors.push(...each(path.child('runtimeClassName'), runtimeClass, problems))
  }
  const preemption = spec.preemptionPolicy ?? undefined
  if (preemption !== undefined) {
    errors.push(...checkWord(preemption, preemptionPolicies, path.child('preemptionPolicy')))
  }
  if (spec.overhead) {
    errors.push(...checkResources({ limits: spec.overhead }, path.child('overhead'), rules))
  }
  return errors
}

/** A template's metadata and specification. */
export function checkPodTemplate(template: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const meta: ObjectMeta = template.metadata ?? {}
  const spec: Loose = template.spec ?? {}
  const errors = [
    ...validateLabels(meta.labels, path.child('labels')),
    ...validateAnnotations(meta.annotations, path.child('annotations')),
    ...checkPodAnnotations(meta.annotations, spec, path.child('annotations'), rules),
    ...checkPodSpec(spec, undefined, path.child('spec'), rules),
    ...checkSeccompAgreement(meta, spec, path.child('spec'), rules.ephemeralContainers),
  ]
  if ((spec.ephemeralContainers ?? []).length > 0) {
    const detail = 'ephemeral containers not allowed in pod template'
    errors.push(forbidden(path.child('spec', 'ephemeralContainers'), detail))
  }
  return errors
}

/** A pod but for the metadata all objects share. */
export function checkPod(pod: KubeObject, rules: PodRules): FieldError[] {
  const spec: Loose = pod.spec
  const path = FieldPath.of('spec')
  const { annotations } = pod.metadata
  return [
    ...checkPodAnnotations(annotations, spec, FieldPath.of('metadata', 'annotations'), rules),
    ...checkPodSpec(spec, pod.metadata, path, rules),
    ...checkTokenVolumes(spec, path.child('volumes')),
    ...checkImagesOfPod(spec.containers, path.child('containers')),
    ...checkImagesOfPod(spec.initContainers, path.child('initContainers')),
    ...checkPageSizes(spec, path, rules),
  ]
}

const listsPageSizes = change('errors show the sizes of huge pages as a list', { since: 18 })

/** Huge pages are of one size unless several are allowed. */
export function checkPageSizes(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const sizes = rules.allowManyPageSizes ? [] : pageSizesOf(spec)
  if (sizes.length < 2) return []
  const shown = releaseOf(rules.release).has(listsPageSizes)
    ? goStrings(sizes.toSorted())
    : goStruct(
        'sets.String',
        sizes.map((size) => [goQuote(size), 'sets.Empty{}']),
      )
  return [invalid(path, asGo(shown), 'must use a single hugepage size in a pod spec')]
}

/** A token needs an account to be a token of. */
function checkTokenVolumes(spec: Loose, path: FieldPath): FieldError[] {
  if (spec.serviceAccountName) return []
  const errors: FieldError[] = []
  ;((spec.volumes ?? []) as Loose[]).forEach((volume, i) => {
    ;((volume.projected?.sources ?? []) as Loose[]).forEach((source, k) => {
      if (!source.serviceAccountToken) return
      const at = path.index(i).child('projected', 'sources').index(k).child('serviceAccountToken')
      errors.push(forbidden(at, 'must not be specified when serviceAccountName is not set'))
    })
  })
  return errors
}
