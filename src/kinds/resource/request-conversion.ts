/**
 * The conversion of device requests, which ResourceClaim and ResourceClaimTemplate share. The
 * fields of a request are in `exactly` since v1beta2, and beside its name before:
 *   v1alpha3, v1beta1  { name: 'gpu', deviceClassName: 'large', count: 1 }
 *   v1beta2, v1        { name: 'gpu', exactly: { deviceClassName: 'large', count: 1 } }
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { rememberEmpty, wasWrittenEmpty } from '#api/written-empty.ts'
import type { Conversion, Conversions } from '#kinds/all-kinds/conversion.ts'

const lists = ['selectors', 'tolerations', 'derivedAttributes']
const fields = ['deviceClassName', ...lists, 'allocationMode', 'count', 'adminAccess', 'capacity']

/** A request without any of the fields has alternatives, or is invalid. */
function nest(request: Loose): Loose {
  const { name, firstAvailable } = request
  const nested: Loose = { name }
  const isSet = (field: string) => Boolean(request[field]) || request[field] === false
  const emptyLists = lists.filter((field) => wasWrittenEmpty(request, field))
  if (fields.some(isSet) || emptyLists.length > 0) {
    const { name: _, firstAvailable: __, ...exactly } = request
    for (const field of emptyLists) rememberEmpty(exactly, field)
    nested.exactly = exactly
  }
  if (firstAvailable !== undefined) nested.firstAvailable = firstAvailable
  return nested
}

/** The name of the class is always written, because Go does not omit it. */
const flatten = ({ name, exactly, firstAvailable }: Loose): Loose => ({
  name,
  deviceClassName: '',
  ...exactly,
  ...(firstAvailable !== undefined && { firstAvailable }),
})

/** The conversions of a kind; `devicesOf` finds the devices that an object requests. */
export function requestConversions(
  devicesOf: (object: KubeObject) => Loose | undefined,
): Conversions {
  const each = (change: (request: Loose) => Loose) => (object: KubeObject) => {
    const devices = devicesOf(object)
    if (devices?.requests) devices.requests = devices.requests.map(change)
    return object
  }
  const conversion: Conversion = { toHub: each(nest), fromHub: each(flatten) }
  return { 'resource.k8s.io/v1beta1': conversion, 'resource.k8s.io/v1alpha3': conversion }
}
