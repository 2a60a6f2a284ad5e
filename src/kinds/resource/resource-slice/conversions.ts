/**
 * Conversions of ResourceSlice. v1beta1 and v1alpha3 have the fields of a device in `basic`; v1,
 * the hub, has them beside its name. The older versions cannot distinguish an empty node name or
 * `allNodes: false` from unset fields. In v1alpha3 a capacity is a quantity.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Conversion, Conversions } from '#kinds/all-kinds/conversion.ts'

type Change = (device: Loose) => Loose

function eachDevice(object: KubeObject, change: Change): KubeObject {
  const { spec } = object
  if (spec?.devices) spec.devices = spec.devices.map(change)
  return object
}

function withoutEmptyMaps(fields: Loose): Loose {
  for (const field of ['attributes', 'capacity'])
    if (Object.keys(fields[field] ?? {}).length === 0) delete fields[field]
  return fields
}

const flatten: Change = ({ name, basic = {} }) => ({ name, ...withoutEmptyMaps(basic) })

/** `basic` is always written, even if it has no fields. */
const nest: Change = ({ name, ...basic }) => ({ name, basic: withoutEmptyMaps(basic) })

function fromHub(object: KubeObject): KubeObject {
  const { spec } = object
  if (spec?.nodeName === '') delete spec.nodeName
  if (spec?.allNodes === false) delete spec.allNodes
  return eachDevice(object, nest)
}

const v1beta1: Conversion = { toHub: (object) => eachDevice(object, flatten), fromHub }

function eachCapacity(device: Loose, change: (capacity: Loose) => unknown): Loose {
  const capacities: Record<string, Loose> | undefined = device.basic?.capacity
  if (capacities !== undefined) {
    const entries = Object.entries(capacities)
    device.basic.capacity = Object.fromEntries(entries.map(([name, one]) => [name, change(one)]))
  }
  return device
}

const v1alpha3: Conversion = {
  toHub: (object) =>
    eachDevice(object, (device) => flatten(eachCapacity(device, (value) => ({ value })))),
  fromHub: (object) =>
    eachDevice(fromHub(object), (device) => eachCapacity(device, ({ value }) => value)),
}

export const resourceSliceConversions: Conversions = {
  'resource.k8s.io/v1beta1': v1beta1,
  'resource.k8s.io/v1alpha3': v1alpha3,
}
