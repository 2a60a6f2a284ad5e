/** Drops fields of the pod status whose feature gate is off, unless the stored pod uses them. */
import type { Loose } from '#api/object-meta.ts'
import type { Context } from '#kinds/kind.ts'
import { containersOf } from '#kinds/pod-template/containers-of.ts'

const listsOf = (status: Loose): Loose[] => [
  ...(status.containerStatuses ?? []),
  ...(status.initContainerStatuses ?? []),
  ...(status.ephemeralContainerStatuses ?? []),
]
const healthsOf = (status: Loose): Loose[] =>
  listsOf(status).flatMap(({ allocatedResourcesStatus }) =>
    ((allocatedResourcesStatus ?? []) as Loose[]).flatMap(({ resources }) => resources ?? []),
  )

interface Rule {
  readonly gate: string
  readonly fields: readonly string[]
  holdersIn(status: Loose): Loose[]
  /** Whether the pod's spec shows that the feature is in use. */
  usedIn?(spec: Loose): boolean
}

const itself = (status: Loose): Loose[] => [status]

const rules: readonly Rule[] = [
  {
    gate: 'InPlacePodLevelResourcesVerticalScaling',
    fields: ['resources', 'allocatedResources'],
    holdersIn: itself,
  },
  {
    gate: 'InPlacePodVerticalScaling',
    fields: ['resources', 'allocatedResources'],
    holdersIn: listsOf,
    usedIn: (spec) =>
      containersOf(spec).some(({ resizePolicy }) => (resizePolicy ?? []).length > 0),
  },
  {
    gate: 'DynamicResourceAllocation',
    fields: ['resourceClaimStatuses'],
    holdersIn: itself,
    usedIn: (spec) => (spec.resourceClaims ?? []).length > 0,
  },
  { gate: 'DRAExtendedResource', fields: ['extendedResourceClaimStatus'], holdersIn: itself },
  {
    gate: 'RecursiveReadOnlyMounts',
    fields: ['volumeMounts'],
    holdersIn: listsOf,
    usedIn: (spec) =>
      containersOf(spec).some(({ volumeMounts }) =>
        ((volumeMounts ?? []) as Loose[]).some(({ recursiveReadOnly }) => recursiveReadOnly),
      ),
  },
  { gate: 'ResourceHealthStatus', fields: ['allocatedResourcesStatus'], holdersIn: listsOf },
  { gate: 'ResourceHealthStatusMessage', fields: ['message'], holdersIn: healthsOf },
  {
    gate: 'SupplementalGroupsPolicy',
    fields: ['user'],
    holdersIn: listsOf,
    usedIn: (spec) => Boolean(spec.securityContext?.supplementalGroupsPolicy),
  },
  {
    gate: 'PodObservedGenerationTracking',
    fields: ['observedGeneration'],
    holdersIn: (status) => [status, ...(status.conditions ?? [])],
  },
  {
    gate: 'ImageVolumeWithDigest',
    fields: ['volumeStatus'],
    holdersIn: (status) => listsOf(status).flatMap(({ volumeMounts }) => volumeMounts ?? []),
  },
  {
    gate: 'DRANodeAllocatableResources',
    fields: ['nodeAllocatableResourceClaimStatuses'],
    holdersIn: itself,
  },
  { gate: 'CSIVolumeHealth', fields: ['volumeHealth'], holdersIn: itself },
]

/** `next` is changed. */
export function dropDisabledStatusFields(
  next: Loose,
  old: { readonly status: Loose; readonly spec: Loose },
  { feature }: Context,
): void {
  for (const { gate, fields, holdersIn, usedIn } of rules) {
    if (feature(gate)) continue
    const isUsed = usedIn
      ? usedIn(old.spec)
      : holdersIn(old.status).some((holder) => fields.some((field) => holder[field] !== undefined))
    if (isUsed) continue
    for (const holder of holdersIn(next)) for (const field of fields) delete holder[field]
  }
}
