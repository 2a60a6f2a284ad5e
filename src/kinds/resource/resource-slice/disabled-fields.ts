/** Drops fields of devices whose feature gate is off, unless the old slice uses them. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Context } from '#kinds/kind.ts'

interface Part {
  readonly gates: readonly string[]
  readonly ofSlice?: readonly string[]
  readonly ofDevice?: readonly string[]
  readonly ofConsumption?: readonly string[]
  readonly ofAttribute?: readonly string[]
  readonly ofCapacity?: readonly string[]
}

const parts: readonly Part[] = [
  { gates: ['DRADeviceTaints'], ofDevice: ['taints'] },
  {
    gates: ['DRAPartitionableDevices'],
    ofSlice: ['sharedCounters', 'perDeviceNodeSelection'],
    ofDevice: ['consumesCounters', 'nodeName', 'nodeSelector', 'allNodes'],
  },
  {
    gates: ['DRADeviceBindingConditions', 'DRAResourceClaimDeviceStatus'],
    ofDevice: ['bindingConditions', 'bindingFailureConditions', 'bindsToNode'],
  },
  {
    gates: ['DRAConsumableCapacity'],
    ofDevice: ['allowMultipleAllocations'],
    ofCapacity: ['requestPolicy'],
  },
  { gates: ['DRADeviceCompatibilityGroups'], ofConsumption: ['compatibilityGroups'] },
  { gates: ['DRANodeAllocatableResources'], ofDevice: ['nodeAllocatableResources'] },
  { gates: ['DRAListTypeAttributes'], ofAttribute: ['ints', 'bools', 'strings', 'versions'] },
  { gates: ['DRAPartitionableDevicesType'], ofSlice: ['partitionTypeAttribute'] },
  { gates: ['DRAOptionalNodeOperations'], ofSlice: ['skipNodeOperations'] },
]

export function dropDisabledFields(
  next: KubeObject,
  old: KubeObject | undefined,
  { feature }: Context,
): void {
  for (const part of parts) {
    if (part.gates.every((gate) => feature(gate))) continue
    const isUsed = placesIn(old, part).some(([holder, field]) => isSet(holder[field]))
    if (!isUsed) for (const [holder, field] of placesIn(next, part)) delete holder[field]
  }
}

const isSet = (value: unknown): boolean =>
  value !== undefined && (!Array.isArray(value) || value.length > 0)

/** The objects that have the fields of a part, with the fields. */
function placesIn(object: KubeObject | undefined, part: Part): [holder: Loose, field: string][] {
  const spec: Loose = object?.spec ?? {}
  const devices: Loose[] = spec.devices ?? []
  const within = (holders: readonly Loose[], fields: readonly string[] = []) =>
    holders.flatMap((holder) => fields.map((field) => [holder, field] as [Loose, string]))
  return [
    ...within([spec], part.ofSlice),
    ...within(devices, part.ofDevice),
    ...within(
      devices.flatMap((one) => one.consumesCounters ?? []),
      part.ofConsumption,
    ),
    ...within(
      devices.flatMap((one) => Object.values(one.attributes ?? {})),
      part.ofAttribute,
    ),
    ...within(
      devices.flatMap((one) => Object.values(one.capacity ?? {})),
      part.ofCapacity,
    ),
  ]
}
