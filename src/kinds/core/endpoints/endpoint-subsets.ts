/**
 * Normalises endpoint subsets, as releases up to 1.16 store them. Ports with the same addresses
 * share one subset, an address that is both ready and not ready counts as not ready, and everything
 * is sorted.
 *   [{a: 80}, {a: 81}, {b: 80}] → [{a: 81}, {a, b: 80}]
 * Subsets and ports are sorted by their hashes, as in kube-apiserver. Nothing is validated here.
 */
import { createHash } from 'node:crypto'
import type { Loose } from '#api/object-meta.ts'

interface PlacedAddress {
  readonly address: Loose
  isReady: boolean
}

interface PortAddresses {
  /** Undefined if the subset has no ports. */
  readonly port: Loose | undefined
  readonly addresses: Map<string, PlacedAddress>
}

const compareText = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
const uidOf = (address: Loose): string => address.targetRef?.uid ?? ''
const keyOf = (address: Loose): string => JSON.stringify([address.ip ?? '', uidOf(address)])

/** Sorts by IP address; addresses without targetRef come first, then by uid. */
function compareAddresses(a: Loose, b: Loose): number {
  const byIp = compareText(a.ip ?? '', b.ip ?? '')
  if (byIp !== 0) return byIp
  if (!a.targetRef || !b.targetRef) return Number(!b.targetRef) - Number(!a.targetRef)
  return compareText(uidOf(a), uidOf(b))
}

export function repackSubsets(subsets: readonly Loose[]): Loose[] {
  const groups = new Map<string, { ports: Loose[]; placed: PlacedAddress[] }>()
  for (const { port, addresses } of addressesByPort(subsets)) {
    const placed = [...addresses.values()].sort((a, b) => compareAddresses(a.address, b.address))
    const key = JSON.stringify(placed)
    const group = groups.get(key) ?? { ports: [], placed }
    if (port !== undefined) group.ports.push(port)
    groups.set(key, group)
  }
  return inHashOrder([...groups.values()].map(subsetOf), spewSubset)
}

function addressesByPort(subsets: readonly Loose[]): PortAddresses[] {
  /** The first description of an address counts. */
  const known = new Map<string, Loose>()
  const byPort = new Map<string, PortAddresses>()
  for (const subset of subsets) {
    const ports: (Loose | undefined)[] = subset.ports?.length ? subset.ports : [undefined]
    for (const port of ports) {
      const portKey = port === undefined ? '' : spewPort(port)
      const entry = byPort.get(portKey) ?? { port, addresses: new Map<string, PlacedAddress>() }
      byPort.set(portKey, entry)
      for (const address of subset.addresses ?? []) place(address, true, entry, known)
      for (const address of subset.notReadyAddresses ?? []) place(address, false, entry, known)
    }
  }
  return [...byPort.values()]
}

function place(
  address: Loose,
  isReady: boolean,
  { addresses }: PortAddresses,
  known: Map<string, Loose>,
): void {
  const key = keyOf(address)
  if (!known.has(key)) known.set(key, address)
  const placed = addresses.get(key)
  if (placed === undefined) addresses.set(key, { address: known.get(key) as Loose, isReady })
  else placed.isReady &&= isReady
}

function subsetOf({ ports, placed }: { ports: Loose[]; placed: PlacedAddress[] }): Loose {
  const subset: Loose = {}
  const ready = placed.filter(({ isReady }) => isReady).map(({ address }) => address)
  const notReady = placed.filter(({ isReady }) => !isReady).map(({ address }) => address)
  if (ready.length > 0) subset.addresses = ready
  if (notReady.length > 0) subset.notReadyAddresses = notReady
  if (ports.length > 0) subset.ports = inHashOrder(ports, spewPort)
  return subset
}

function inHashOrder(list: Loose[], textOf: (item: Loose) => string): Loose[] {
  const hashed = list.map((item) => ({
    item,
    hash: createHash('md5').update(textOf(item)).digest(),
  }))
  return hashed.sort((a, b) => Buffer.compare(a.hash, b.hash)).map(({ item }) => item)
}

/** Types and values as kube-apiserver prints them for its hashes. */
const spewPort = (port: Loose): string => `(core.EndpointPort)${portFields(port)}`
const portFields = ({ name = '', port = 0, protocol = '' }: Loose): string =>
  `{Name:(string)${name} Port:(int32)${port} Protocol:(core.Protocol)${protocol}}`

function addressFields({ ip = '', hostname = '', nodeName, targetRef }: Loose): string {
  const reference = targetRef ? referenceFields(targetRef) : '<nil>'
  return (
    `{IP:(string)${ip} Hostname:(string)${hostname} NodeName:(*string)${nodeName ?? '<nil>'} ` +
    `TargetRef:(*core.ObjectReference)${reference}}`
  )
}

const referenceFields = (reference: Loose): string =>
  `{Kind:(string)${reference.kind ?? ''} Namespace:(string)${reference.namespace ?? ''} ` +
  `Name:(string)${reference.name ?? ''} UID:(types.UID)${reference.uid ?? ''} ` +
  `APIVersion:(string)${reference.apiVersion ?? ''} ` +
  `ResourceVersion:(string)${reference.resourceVersion ?? ''} ` +
  `FieldPath:(string)${reference.fieldPath ?? ''}}`

const listOf = (list: Loose[] | undefined, fields: (item: Loose) => string): string =>
  list === undefined ? '<nil>' : `[${list.map(fields).join(' ')}]`

const spewSubset = ({ addresses, notReadyAddresses, ports }: Loose): string =>
  `(core.EndpointSubset){Addresses:([]core.EndpointAddress)${listOf(addresses, addressFields)} ` +
  `NotReadyAddresses:([]core.EndpointAddress)${listOf(notReadyAddresses, addressFields)} ` +
  `Ports:([]core.EndpointPort)${listOf(ports, portFields)}}`
