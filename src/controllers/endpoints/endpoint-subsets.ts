/** The subsets of the Endpoints of a service, from its pods. Pure. */
import { isIpv6 } from '#api/ip-address.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { repackSubsets } from '#kinds/core/endpoints/endpoint-subsets.ts'
import {
  addressesOf,
  familiesOf,
  hostnameOf,
  isHeadless,
  isPublished,
  isServing,
  portsOn,
  publishesAll,
  referenceTo,
} from './service-pods.ts'

/** Most addresses in one object, as in kube-controller-manager. */
const addressesMax = 1000

export interface Subsets {
  readonly subsets: Loose[]
  readonly isTruncated: boolean
}

export function subsetsOf(service: KubeObject, pods: readonly KubeObject[]): Subsets {
  const subsets: Loose[] = []
  const wantsIPv6 = familiesOf(service)[0] === 'IPv6'
  for (const pod of pods) {
    const isLeaving = pod.metadata.deletionTimestamp !== undefined
    if (!isPublished(pod) || (isLeaving && !publishesAll(service))) continue
    const ip = addressesOf(pod).find((address) => isIpv6(address) === wantsIPv6)
    if (ip === undefined) continue
    const hostname = hostnameOf(service, pod)
    const address = {
      ip,
      ...(hostname && { hostname }),
      nodeName: pod.spec?.nodeName ?? '',
      targetRef: referenceTo(pod),
    }
    const list = isServing(service, pod) ? 'addresses' : 'notReadyAddresses'
    if ((service.spec?.ports ?? []).length > 0)
      for (const port of portsOn(service, pod))
        subsets.push({ [list]: [address], ports: [withoutEmptyName(port)] })
    else if (isHeadless(service)) subsets.push({ [list]: [address] })
  }
  return truncated(repackSubsets(subsets))
}

const withoutEmptyName = ({ name, ...port }: Loose): Loose =>
  name === '' ? port : { name, ...port }

const countOf = (subsets: readonly Loose[], list: string): number =>
  subsets.reduce((sum, subset) => sum + (subset[list]?.length ?? 0), 0)

/** Ready addresses come first. Each subset keeps its share of what there is room for. */
function truncated(subsets: Loose[]): Subsets {
  const ready = countOf(subsets, 'addresses')
  const notReady = countOf(subsets, 'notReadyAddresses')
  if (ready + notReady <= addressesMax) return { subsets, isTruncated: false }
  const list = ready > addressesMax ? 'addresses' : 'notReadyAddresses'
  const room = list === 'addresses' ? addressesMax : addressesMax - ready
  const all = list === 'addresses' ? ready : notReady
  let left = room
  const kept = subsets.map((subset) => {
    const addresses: Loose[] = subset[list] ?? []
    const share = Math.min(left, Math.ceil((addresses.length / all) * room), addresses.length)
    left -= share
    const { notReadyAddresses: _, ...others } = subset
    return share === 0 ? others : { ...others, [list]: addresses.slice(0, share) }
  })
  return { subsets: kept, isTruncated: true }
}
