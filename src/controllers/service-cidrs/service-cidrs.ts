/**
 * ServiceCIDRs are ready, and outlive their deletion as long as services have addresses that no
 * other ServiceCIDR has.
 */
import { cidrContains, parseCidr, parseIp } from '#api/ip-address.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { formatTimestamp, timestampMs } from '#api/timestamp.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import { queueFor, unlessMissing } from '#controllers/queue-for.ts'
import { ipAddresses, serviceCidrs } from '#controllers/resources.ts'

const name = 'service-cidr-controller' as const
const finalizer = 'networking.k8s.io/service-cidr-finalizer'
const managedByServer = { labelSelector: 'ipaddress.kubernetes.io/managed-by=ipallocator.k8s.io' }

const ready = { status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' }
const blocked = {
  status: 'False',
  reason: 'Terminating',
  message:
    'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
}

export const serviceCidrController: Controller = {
  name,
  account: 'service-cidrs-controller',
  start(parts) {
    // A server without the gate gives addresses from its ranges.
    if (!parts.feature('MultiCIDRServiceAllocator')) return
    const cidrs = parts.informers.serviceCidrs()
    const lookAtDeleted = () => {
      for (const { metadata } of cidrs.values())
        if (metadata.deletionTimestamp !== undefined) queue.add(metadata.name ?? '')
    }
    // Addresses are many, and matter only after a ServiceCIDR is deleted.
    let areFollowed = false
    const followAddresses = () => {
      if (areFollowed) return
      areFollowed = true
      parts.informers.ipAddresses().listen({ deleted: lookAtDeleted, listedAll: lookAtDeleted })
    }
    const queue = queueFor(name, parts, async (key) => {
      const cidr = cidrs.get('', key)
      if (cidr === undefined) return
      if (cidr.metadata.deletionTimestamp === undefined) return keep(parts, cidr)
      followAddresses()
      return release(parts, cidr)
    })
    cidrs.listen({
      changed({ metadata }) {
        queue.add(metadata.name ?? '')
        lookAtDeleted()
      },
      deleted: lookAtDeleted,
    })
  },
}

async function keep(parts: ControllerParts, cidr: KubeObject): Promise<void> {
  const { name: key = '', finalizers = [], resourceVersion } = cidr.metadata
  if (!finalizers.includes(finalizer)) {
    const metadata = { finalizers: [...finalizers, finalizer], resourceVersion }
    await unlessMissing(parts.client.patch(serviceCidrs, '', key, { metadata }))
  }
  await setReady(parts, cidr, ready)
}

/** Returns after how many milliseconds to look again. */
async function release(parts: ControllerParts, cidr: KubeObject): Promise<number | undefined> {
  const { name: key = '', finalizers = [], resourceVersion, deletionTimestamp } = cidr.metadata
  if (!finalizers.includes(finalizer)) return
  // Other servers must see the deletion first: until then they give out addresses of it.
  const endsMs = timestampMs(deletionTimestamp ?? '') + parts.othersSeeMs
  const leftMs = endsMs - parts.clock.now()
  if (parts.othersSeeMs > 0 && leftMs > 0) return leftMs
  const { items: all } = await parts.client.list(serviceCidrs, '')
  if (!isWithinOther(cidr, all)) {
    const { items: addresses } = await parts.client.list(ipAddresses, '', managedByServer)
    if (addresses.some((address) => isAlone(cidr, all, address)))
      return setReady(parts, cidr, blocked)
  }
  const left = finalizers.filter((one) => one !== finalizer)
  const metadata = { finalizers: left, resourceVersion }
  await unlessMissing(parts.client.patch(serviceCidrs, '', key, { metadata }))
}

async function setReady(
  { client, clock }: ControllerParts,
  { metadata, status }: KubeObject,
  wanted: typeof ready,
): Promise<undefined> {
  const conditions: Loose[] = status?.conditions ?? []
  const found = conditions.find(({ type }) => type === 'Ready')
  const isSame =
    found?.status === wanted.status &&
    (found.reason ?? '') === wanted.reason &&
    found.message === wanted.message
  if (isSame) return
  const lastTransitionTime = formatTimestamp(Math.floor(clock.now() / 1000))
  const applied = {
    metadata: { name: metadata.name as string },
    status: { conditions: [{ type: 'Ready', ...wanted, lastTransitionTime }] },
  }
  await unlessMissing(client.apply(serviceCidrs, applied, name, 'status'))
}

const blocksOf = ({ spec }: KubeObject) =>
  ((spec?.cidrs ?? []) as string[]).flatMap((text) => parseCidr(text) ?? [])

/** Each of its blocks is within a block of another ServiceCIDR, which has all its addresses. */
function isWithinOther(cidr: KubeObject, all: readonly KubeObject[]): boolean {
  const others = all
    .filter(({ metadata }) => metadata.name !== cidr.metadata.name)
    .flatMap(blocksOf)
  return blocksOf(cidr).every(({ network, ones, bits }) =>
    others.some(
      (other) => other.bits === bits && other.ones <= ones && cidrContains(other, network),
    ),
  )
}

/** Whether no other ServiceCIDR has the address of the object. */
function isAlone(cidr: KubeObject, all: readonly KubeObject[], { metadata }: KubeObject): boolean {
  const ip = parseIp(metadata.name ?? '')
  if (ip === undefined) return false
  const having = all.filter((one) => blocksOf(one).some((block) => cidrContains(block, ip)))
  return having.length === 1 && having[0]?.metadata.name === cidr.metadata.name
}
