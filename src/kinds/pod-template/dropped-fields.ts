/**
 * Drops fields of pods and templates whose feature gate is off, unless the old object uses them.
 * One row per feature.
 */
import type { Loose, ObjectMeta } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { Context } from '#kinds/kind.ts'
import { isSidecar, usesRestartRules } from './container-restart.ts'
import { containersOf } from './containers-of.ts'

interface Feature {
  readonly gate: string
  inUse(spec: Loose, meta: ObjectMeta): boolean
  drop(spec: Loose, meta: ObjectMeta): void
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null

/** A feature that is one field of the pod spec. */
const specField = (gate: string, field: string): Feature => ({
  gate,
  inUse: (spec) => isSet(spec[field]),
  drop: (spec) => {
    delete spec[field]
  },
})

/**
 * A feature in parts that occur several times in a pod. `find` returns all of these parts; `field`
 * is deleted from each.
 */
const partField = (
  gate: string,
  field: string,
  find: (spec: Loose) => (Loose | null | undefined)[],
): Feature => ({
  gate,
  inUse: (spec) => find(spec).some((part) => isSet(part?.[field])),
  drop: (spec) => {
    for (const part of find(spec)) if (part) delete part[field]
  },
})

const volumes = (spec: Loose): Loose[] => spec.volumes ?? []
const mounts = (spec: Loose): Loose[] =>
  containersOf(spec).flatMap((container) => container.volumeMounts ?? [])
const endingProbes = (spec: Loose): Loose[] =>
  containersOf(spec).flatMap((container) => [container.livenessProbe, container.startupProbe])
const windowsOptions = (spec: Loose): Loose[] => [
  spec.securityContext?.windowsOptions,
  ...containersOf(spec).map((container) => container.securityContext?.windowsOptions),
]

const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'
const appArmor: Feature = {
  gate: 'AppArmor',
  inUse: (_spec, meta) =>
    Object.keys(meta.annotations ?? {}).some((key) => key.startsWith(appArmorPrefix)),
  drop: (_spec, meta) => {
    const annotations = meta.annotations ?? {}
    for (const key of Object.keys(annotations)) {
      if (key.startsWith(appArmorPrefix)) delete annotations[key]
    }
    if (Object.keys(annotations).length === 0) delete meta.annotations
  },
}

const procMount: Feature = {
  gate: 'ProcMountType',
  inUse: (spec) =>
    containersOf(spec).some((container) => {
      const mount = container.securityContext?.procMount
      return isSet(mount) && mount !== 'Default'
    }),
  drop: (spec) => {
    for (const container of containersOf(spec)) {
      if (isSet(container.securityContext?.procMount))
        container.securityContext.procMount = 'Default'
    }
  },
}

const preemption: Feature = {
  gate: 'NonPreemptingPriority',
  inUse: (spec) => isSet(spec.priority) || Boolean(spec.priorityClassName),
  drop: (spec) => {
    delete spec.preemptionPolicy
  },
}

function affinityTerms(spec: Loose): Loose[] {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {}
  return [podAffinity, podAntiAffinity].flatMap((affinity: Loose | undefined) => [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      (term: Loose) => term.podAffinityTerm,
    ),
  ])
}

const constraints = (spec: Loose): Loose[] => spec.topologySpreadConstraints ?? []
const probes = (spec: Loose): Loose[] =>
  containersOf(spec).flatMap(({ livenessProbe, readinessProbe, startupProbe }) => [
    livenessProbe,
    readinessProbe,
    startupProbe,
  ])
const lifecycles = (spec: Loose): Loose[] => containersOf(spec).map(({ lifecycle }) => lifecycle)
const handlers = (spec: Loose): Loose[] =>
  lifecycles(spec).flatMap((lifecycle) => [lifecycle?.postStart, lifecycle?.preStop])
const projections = (spec: Loose): Loose[] =>
  volumes(spec).flatMap(({ projected }) => projected?.sources ?? [])

/** Everything that can have an owner: volumes of files, and files in them. */
const fileSources = (spec: Loose): Loose[] =>
  [...volumes(spec), ...projections(spec)].flatMap((source) => [
    source.secret,
    source.configMap,
    source.downwardAPI,
    source.projected,
    source.serviceAccountToken,
    source.clusterTrustBundle,
    source.podCertificate,
  ])
const files = (spec: Loose): Loose[] => [
  ...fileSources(spec),
  ...fileSources(spec).flatMap((source) => source?.items ?? []),
]

const restartRules: Feature = {
  gate: 'ContainerRestartRules',
  inUse: usesRestartRules,
  drop(spec) {
    for (const container of containersOf(spec)) {
      delete container.restartPolicyRules
      const isInit = (spec.initContainers ?? []).includes(container)
      if (!isInit || !isSidecar(container)) delete container.restartPolicy
    }
  },
}

const stopSignal: Feature = {
  gate: 'ContainerStopSignals',
  inUse: (spec) => lifecycles(spec).some((lifecycle) => isSet(lifecycle?.stopSignal)),
  drop(spec) {
    for (const container of containersOf(spec)) {
      if (!isSet(container.lifecycle?.stopSignal)) continue
      delete container.lifecycle.stopSignal
      if (Object.keys(container.lifecycle).length === 0) delete container.lifecycle
    }
  },
}

const imageVolumes: Feature = {
  gate: 'ImageVolume',
  inUse: (spec) => volumes(spec).some(({ image }) => isSet(image)),
  drop(spec) {
    const dropped = new Set(
      volumes(spec)
        .filter(({ image }) => image)
        .map(({ name }) => name),
    )
    if (dropped.size === 0) return
    spec.volumes = volumes(spec).filter(({ image }) => !image)
    for (const container of containersOf(spec)) {
      if (!container.volumeMounts) continue
      container.volumeMounts = container.volumeMounts.filter(
        ({ name }: Loose) => !dropped.has(name),
      )
    }
  },
}

const resourceClaims: Feature = {
  gate: 'DynamicResourceAllocation',
  inUse: (spec) => (spec.resourceClaims ?? []).length > 0,
  drop(spec) {
    delete spec.resourceClaims
    for (const { resources } of containersOf(spec)) if (resources) delete resources.claims
  },
}

const podSecurity = (spec: Loose): Loose[] => [spec.securityContext]

/** The fields of releases since 1.23, in kube-apiserver's order. */
const newerFeatures: readonly Feature[] = [
  specField('UserNamespacesSupport', 'hostUsers'),
  partField('SupplementalGroupsPolicy', 'supplementalGroupsPolicy', podSecurity),
  specField('PodLevelResources', 'resources'),
  partField('NodeInclusionPolicyInPodTopologySpread', 'nodeTaintsPolicy', constraints),
  partField('NodeInclusionPolicyInPodTopologySpread', 'nodeAffinityPolicy', constraints),
  partField('MatchLabelKeysInPodTopologySpread', 'matchLabelKeys', constraints),
  partField('MinDomainsInPodTopologySpread', 'minDomains', constraints),
  partField('MatchLabelKeysInPodAffinity', 'matchLabelKeys', affinityTerms),
  partField('MatchLabelKeysInPodAffinity', 'mismatchLabelKeys', affinityTerms),
  resourceClaims,
  partField('ClusterTrustBundleProjection', 'clusterTrustBundle', projections),
  partField('PodCertificateRequest', 'podCertificate', projections),
  partField('AtomicWriteVolumeUserFields', 'defaultUser', files),
  partField('AtomicWriteVolumeUserFields', 'user', files),
  specField('GenericWorkload', 'schedulingGroup'),
  partField('GRPCContainerProbeTLS', 'mode', (spec) => probes(spec).map((probe) => probe?.grpc)),
  specField('EvictionRequestAPI', 'evictionResponders'),
  partField('InPlacePodVerticalScaling', 'resizePolicy', containersOf),
  restartRules,
  partField('RecursiveReadOnlyMounts', 'recursiveReadOnly', mounts),
  partField('EmptyDirVolumeMode', 'mode', (spec) => volumes(spec).map(({ emptyDir }) => emptyDir)),
  partField('VolumeBindMountOptions', 'bindMountOptions', mounts),
  specField('HostnameOverride', 'hostnameOverride'),
  partField('EnvFiles', 'fileKeyRef', (spec) =>
    containersOf(spec).flatMap(({ env }) => (env ?? []).map(({ valueFrom }: Loose) => valueFrom)),
  ),
  imageVolumes,
  partField('SELinuxChangePolicy', 'seLinuxChangePolicy', podSecurity),
  stopSignal,
  partField('H2CContainerProbe', 'protocol', (spec) =>
    [...probes(spec), ...handlers(spec)].map((handler) => handler?.httpGet),
  ),
  partField('PodLifecycleSleepAction', 'sleep', handlers),
  specField('PodSchedulingReadiness', 'schedulingGates'),
  specField('IdentifyPodOS', 'os'),
  partField('GRPCContainerProbe', 'grpc', probes),
]

const features: readonly Feature[] = [
  appArmor,
  partField('LocalStorageCapacityIsolation', 'sizeLimit', (spec) =>
    volumes(spec).map((volume) => volume.emptyDir),
  ),
  partField('VolumeSubpath', 'subPath', mounts),
  specField('EphemeralContainers', 'ephemeralContainers'),
  partField('VolumeSubpath', 'subPathExpr', mounts),
  partField('ProbeTerminationGracePeriod', 'terminationGracePeriodSeconds', endingProbes),
  partField('ConfigurableFSGroupPolicy', 'fsGroupChangePolicy', (spec) => [spec.securityContext]),
  specField('PodOverhead', 'overhead'),
  procMount,
  partField('CSIInlineVolume', 'csi', volumes),
  partField('GenericEphemeralVolume', 'ephemeral', volumes),
  preemption,
  partField('PodAffinityNamespaceSelector', 'namespaceSelector', affinityTerms),
  partField('StartupProbe', 'startupProbe', containersOf),
  specField('EvenPodsSpread', 'topologySpreadConstraints'),
  specField('SetHostnameAsFQDN', 'setHostnameAsFQDN'),
  partField('WindowsGMSA', 'gmsaCredentialSpecName', windowsOptions),
  partField('WindowsGMSA', 'gmsaCredentialSpec', windowsOptions),
  partField('WindowsRunAsUserName', 'runAsUserName', windowsOptions),
]

const allFeatures = [...features, ...newerFeatures]
const hasNewerFields = change('pods have fields that gates of 1.23 and later turn on', {
  since: 23,
})

/** Changes `next`. `old` is the object before the update, if any. */
export function dropDisabledPodFields(
  next: Loose | null | undefined,
  old: Loose | null | undefined,
  context: Context,
): void {
  if (!next?.spec) return
  const isNewer = releaseOf(context.release).has(hasNewerFields)
  for (const feature of isNewer ? allFeatures : features) {
    if (context.feature(feature.gate)) continue
    if (old?.spec && feature.inUse(old.spec, old.metadata ?? {})) continue
    feature.drop(next.spec, next.metadata ?? {})
  }
}
