/**
 * Fields of pods and templates whose feature is off: dropped on the way in, unless the object being
 * changed uses them already. One row per feature.
 */
import type { Loose, ObjectMeta } from '#api/object-meta.ts'
import type { Context } from '#kinds/kind.ts'
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

/** A feature in things a pod has many of; `find` gives them all, and `field` of each goes. */
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

/** `next` is changed; `old` is what it was before, if it was there. */
export function dropDisabledPodFields(
  next: Loose | null | undefined,
  old: Loose | null | undefined,
  context: Context,
): void {
  if (!next?.spec) return
  for (const feature of features) {
    if (context.feature(feature.gate)) continue
    if (old?.spec && feature.inUse(old.spec, old.metadata ?? {})) continue
    feature.drop(next.spec, next.metadata ?? {})
  }
}
