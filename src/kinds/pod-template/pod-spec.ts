/** The specification of a pod, in a pod or in a template: all rules that need nothing else. */
import { change, releaseOf } from '#api/releases/change.ts'
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goQuote, goStrings, goStruct } from '#api/go-syntax.ts'
import { validateLabels } from '#api/label-rules.ts'
import {
  dns1123Label,
  longerThan,
  nameIsDnsSubdomain,
  qualifiedName,
  rangeProblem,
} from '#api/names.ts'
import type { KubeObject, Loose, ObjectMeta } from '#api/object-meta.ts'
import { validateAnnotations, validateNonnegative } from '#api/object-meta-rules.ts'
import { checkDns1123Subdomain, each } from '#kinds/all-kinds/checks.ts'
import { checkAppArmorAgreement } from './app-armor.ts'
import { containersOf, containersWithPaths } from './containers-of.ts'
import { checkContainers, checkImagesOfPod, checkInitContainers } from './containers.ts'
import { checkEphemeralContainers } from '#kinds/core/pod/ephemeral-containers.ts'
import { pageSizesOf } from './huge-pages.ts'
import { checkPodAnnotations } from './pod-annotations.ts'
import { checkFileVolumes } from './environment.ts'
import { checkOs } from './pod-os.ts'
import { checkDnsConfig, checkDnsPolicy, checkHostAliases } from './pod-dns.ts'
import type { PodRules } from './pod-rules.ts'
import { checkPodResources } from './pod-resources.ts'
import { checkPodClaims, claimNamesOf } from './resource-claims.ts'
import { checkResources } from './resources.ts'
import { checkAffinity, checkTolerations, checkTopologySpread } from './scheduling.ts'
import { checkSeccompAgreement } from './seccomp.ts'
import { checkHostPorts, checkPodSecurityContext } from './security-context.ts'
import { checkVolumes } from './volumes.ts'
import { checkHostProcess } from './windows-options.ts'

const restartPolicies = ['Always', 'OnFailure', 'Never']
const preemptionPolicies = ['PreemptLowerPriority', 'Never']
const int32Max = 2147483647

const graceIsRequired = change('terminationGracePeriodSeconds of a pod is required', { since: 31 })
const accountsAgree = change('serviceAccount and serviceAccountName of a pod must agree', {
  since: 37,
})

/** `meta` is the pod's own; templates have none. */
function checkPodSpec(
  spec: Loose,
  meta: ObjectMeta | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const { volumes, errors } = checkVolumes(spec.volumes, meta, path.child('volumes'), rules)
  const hasGrace = (spec.terminationGracePeriodSeconds ?? undefined) !== undefined
  if (!hasGrace && rules.has(graceIsRequired)) {
    errors.unshift(required(path.child('terminationGracePeriodSeconds')))
  }
  const scope = { spec, volumes, claims: claimNamesOf(spec), rules }
  errors.push(
    ...checkPodClaims(spec.resourceClaims, meta, path.child('resourceClaims')),
    ...checkContainers(scope, path.child('containers')),
    ...checkInitContainers(scope, path.child('initContainers')),
    ...checkEphemeralContainers(scope, path.child('ephemeralContainers')),
    ...checkPodResources(spec, scope.claims, path, rules),
    ...checkHostPorts(spec, path, rules),
    ...checkWord(spec.restartPolicy ?? '', restartPolicies, path.child('restartPolicy')),
    ...checkDnsPolicy(spec.dnsPolicy, path.child('dnsPolicy')),
    ...validateLabels(spec.nodeSelector, path.child('nodeSelector')),
    ...checkPodSecurityContext(spec, path, rules),
    ...checkAffinity(spec.affinity, path.child('affinity'), rules),
    ...checkDnsConfig(spec, path.child('dnsConfig'), rules),
    ...checkReadinessGates(spec.readinessGates, path.child('readinessGates')),
    ...checkSchedulingGates(spec.schedulingGates, path.child('schedulingGates')),
    ...checkTopologySpread(
      spec.topologySpreadConstraints,
      path.child('topologySpreadConstraints'),
      rules,
    ),
    ...checkHostProcess(spec, path, rules),
    ...checkHostUsers(spec, path, rules),
    ...checkHostname(spec, path),
    ...checkNames(spec, path, rules),
    ...checkOs(spec, path, rules),
    ...checkSchedulingGroup(spec, path),
    ...checkFileVolumes(spec, path),
  )
  return errors
}

/** Gates are reported as items, without the name of the field. */
function checkSchedulingGates(gates: Loose[] | null | undefined, path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  return (gates ?? []).flatMap(({ name = '' }, i) => {
    const errors = each(path.index(i), name, qualifiedName(name))
    if (seen.has(name)) errors.push(duplicate(path.index(i), name))
    seen.add(name)
    return errors
  })
}

const whenUsers = 'when `hostUsers` is false'

/** A pod with its own user namespace shares no other namespace with the host. */
function checkHostUsers(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  if (spec.hostUsers !== false) return []
  const { feature, old } = rules
  const errors: FieldError[] = []
  const mayHaveNetwork =
    feature('UserNamespacesHostNetworkSupport') || (old?.hostUsers === false && old.hostNetwork)
  if (spec.hostNetwork && !mayHaveNetwork) {
    errors.push(forbidden(path.child('hostNetwork'), whenUsers))
  }
  if (spec.hostPID) errors.push(forbidden(path.child('HostPID'), whenUsers))
  if (spec.hostIPC) errors.push(forbidden(path.child('HostIPC'), whenUsers))
  const hasDevices = (container: Loose) => (container.volumeDevices ?? []).length > 0
  if (!rules.has(usersHaveNoDevices)) return errors
  if (old?.hostUsers === false && containersOf(old).some(hasDevices)) return errors
  for (const { container, path: at } of containersWithPaths(spec, path, true)) {
    if (hasDevices(container)) errors.push(forbidden(at.child('volumeDevices'), whenUsers))
  }
  return errors
}

const usersHaveNoDevices = change('containers of pods with hostUsers false have no volumeDevices', {
  since: 34,
})
const hostnameLengthMax = 64

function checkHostname(spec: Loose, path: FieldPath): FieldError[] {
  const name: string | undefined = spec.hostnameOverride ?? undefined
  if (name === undefined) return []
  const at = path.child('hostnameOverride')
  const errors: FieldError[] = []
  for (const field of ['setHostnameAsFQDN', 'hostNetwork']) {
    if (!spec[field]) continue
    errors.push(forbidden(at, `may not be specified when ${field} is true`))
  }
  if (longerThan(name, hostnameLengthMax)) errors.push(tooLong(at, name, hostnameLengthMax))
  return [...errors, ...checkDns1123Subdomain(name, at)]
}

function checkSchedulingGroup(
  { schedulingGroup, evictionResponders }: Loose,
  path: FieldPath,
): FieldError[] {
  if (!schedulingGroup) return []
  const name: string | undefined = schedulingGroup.podGroupName ?? undefined
  const at = path.child('schedulingGroup', 'podGroupName')
  const errors =
    name === undefined
      ? [invalid(at, undefined, 'must specify one of: `podGroupName`')]
      : each(at, name, nameIsDnsSubdomain(name, false))
  if ((evictionResponders ?? []).length > 0) {
    const detail = 'may not be set when evictionResponders is set'
    errors.push(forbidden(path.child('schedulingGroup'), detail))
  }
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

/** Validates the names of referenced objects, and numeric fields. */
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
  const account: string = spec.serviceAccountName ?? ''
  if (rules.has(accountsAgree) && (spec.serviceAccount ?? '') !== account) {
    const detail = `must be the same as serviceAccountName: ${goQuote(account)}`
    errors.push(invalid(path.child('deprecatedServiceAccount'), spec.serviceAccount ?? '', detail))
  }
  subdomain('nodeName')
  const deadline = spec.activeDeadlineSeconds ?? undefined
  if (deadline !== undefined && (deadline < 1 || deadline > int32Max)) {
    errors.push(invalid(path.child('activeDeadlineSeconds'), deadline, rangeProblem(1, int32Max)))
  }
  label('hostname')
  label('subdomain')
  errors.push(...checkTolerations(spec.tolerations, path.child('tolerations'), rules))
  errors.push(...checkHostAliases(spec.hostAliases, path.child('hostAliases'), rules))
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
    ...checkAppArmorAgreement(meta, spec, path.child('spec')),
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
    ...checkGrace(spec, path.child('terminationGracePeriodSeconds'), rules),
    ...checkImagesOfPod(spec.containers, path.child('containers')),
    ...checkImagesOfPod(spec.initContainers, path.child('initContainers')),
    ...checkPageSizes(spec, path, rules),
  ]
}

const graceIsPositive = change('terminationGracePeriodSeconds of a pod may not be negative', {
  since: 37,
})

function checkGrace(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const seconds = spec.terminationGracePeriodSeconds ?? undefined
  return rules.has(graceIsPositive) && seconds !== undefined
    ? validateNonnegative(seconds, path)
    : []
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
