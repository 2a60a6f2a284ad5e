/**
 * The writes that turn existing EndpointSlices into those that a service needs. Endpoints stay in
 * the slice they are in, so that a change of one pod writes one slice. Pure.
 *
 * Example: two slices of 100 and 40 endpoints lose one endpoint of the first, and one is added. The
 * first slice is written with the new endpoint in the free place.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { semanticEqual } from '#api/semantic-equal.ts'

export interface SliceGroup {
  readonly addressType: string
  readonly ports: readonly Loose[]
  readonly endpoints: readonly Loose[]
}

export interface SliceOptions {
  /** The metadata of every slice but its name. */
  readonly metadata: Loose
  readonly endpointsMax: number
  /** The uid of the owner: slices of another owner are deleted. */
  readonly owner: string
}

export interface SliceChanges {
  readonly create: Loose[]
  readonly update: KubeObject[]
  readonly remove: KubeObject[]
}

export function sliceChanges(
  groups: readonly SliceGroup[],
  existing: readonly KubeObject[],
  options: SliceOptions,
): SliceChanges {
  const changes: SliceChanges = { create: [], update: [], remove: [] }
  const left = new Set(existing)
  for (const group of groups) {
    const own = existing.filter((slice) => isOwned(slice, options.owner) && isOfGroup(slice, group))
    for (const slice of own) left.delete(slice)
    addGroup(group, own, options, changes)
  }
  changes.remove.push(...left)
  recycle(changes, options)
  return changes
}

const isOwned = ({ metadata }: KubeObject, owner: string): boolean =>
  (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner)

const portsKey = (ports: readonly Loose[]): string =>
  ports
    .map(({ name = '', port, protocol, appProtocol }) =>
      JSON.stringify([name, port, protocol, appProtocol]),
    )
    .sort()
    .join()

const isOfGroup = (slice: KubeObject, { addressType, ports }: SliceGroup): boolean =>
  slice.addressType === addressType && portsKey(slice.ports ?? []) === portsKey(ports)

const endpointKey = ({ addresses, targetRef, hostname, nodeName }: Loose): string =>
  JSON.stringify([addresses, targetRef?.uid, hostname, nodeName])

function addGroup(
  { addressType, ports, endpoints }: SliceGroup,
  own: readonly KubeObject[],
  { metadata, endpointsMax }: SliceOptions,
  { create, update, remove }: SliceChanges,
): void {
  const left = new Map(endpoints.map((endpoint) => [endpointKey(endpoint), endpoint]))
  const contents = own.map((slice): [KubeObject, Loose[]] => {
    const kept: Loose[] = []
    for (const endpoint of slice.endpoints ?? []) {
      const wanted = left.get(endpointKey(endpoint))
      if (wanted === undefined || kept.length === endpointsMax) continue
      left.delete(endpointKey(endpoint))
      kept.push(wanted)
    }
    return [slice, kept]
  })
  const rest = [...left.values()]
  // The fullest slices are filled first.
  for (const [, content] of [...contents].sort(([, a], [, b]) => b.length - a.length))
    if (content.length > 0) content.push(...rest.splice(0, endpointsMax - content.length))
  for (const [slice, content] of contents) {
    if (content.length === 0 && endpoints.length > 0) remove.push(slice)
    else if (!isCurrent(slice, content, metadata))
      update.push(rewritten(slice, { ports, endpoints: content }, metadata))
  }
  const isPlaceholder = endpoints.length === 0 && own.length === 0
  if (isPlaceholder) create.push({ metadata, addressType, ports, endpoints: [] })
  while (rest.length > 0)
    create.push({ metadata, addressType, ports, endpoints: rest.splice(0, endpointsMax) })
}

const isCurrent = (slice: KubeObject, endpoints: readonly Loose[], metadata: Loose): boolean =>
  semanticEqual(slice.endpoints, endpoints) &&
  semanticEqual(slice.metadata.labels, metadata.labels) &&
  semanticEqual(slice.metadata.annotations, metadata.annotations)

function rewritten(slice: KubeObject, content: Loose, wanted: Loose): KubeObject {
  const { generateName: _, ...metadata } = wanted
  return { ...slice, ...content, metadata: { ...slice.metadata, ...metadata } }
}

/** A slice that would be deleted becomes one that would be created. */
function recycle({ create, update, remove }: SliceChanges, options: SliceOptions): void {
  for (const made of [...create]) {
    const at = remove.findIndex(
      (slice) => slice.addressType === made.addressType && isOwned(slice, options.owner),
    )
    if (at < 0) continue
    const [slice] = remove.splice(at, 1) as [KubeObject]
    create.splice(create.indexOf(made), 1)
    update.push(rewritten(slice, { ports: made.ports, endpoints: made.endpoints }, made.metadata))
  }
}
