/**
 * Relations between objects and nodes. A kubelet may read only objects that its pods need:
 *
 *   secret, configmap, service account, claim → pod → node
 *   secret → volume → claim            attachment → node
 *   configmap → node (its dynamic configuration)
 *
 * Relations are counted pairs. An object is related to a node while at least one pod, volume or
 * attachment relates them. The graph is updated by watch events and calls nothing.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { podConfigMapNames, podSecretNames, volumeSecrets } from './pod-references.ts'

export type Related =
  | 'secret'
  | 'configmap'
  | 'serviceaccount'
  | 'claim'
  | 'volume'
  | 'attachment'
  | 'pod'
  | 'resourceclaim'
  | Owned

/** Kinds whose objects contain the name of their node. */
type Owned = 'slice' | 'podcertificaterequest'

/** A multiset: an item is present while it was added more often than removed. */
class Counted {
  readonly #counts = new Map<string, Map<string, number>>()

  add(from: string, to: string): void {
    const row = this.#counts.get(from) ?? new Map<string, number>()
    this.#counts.set(from, row)
    row.set(to, (row.get(to) ?? 0) + 1)
  }

  remove(from: string, to: string): void {
    const row = this.#counts.get(from)
    const left = (row?.get(to) ?? 0) - 1
    if (left > 0) row?.set(to, left)
    else row?.delete(to)
    if (row?.size === 0) this.#counts.delete(from)
  }

  has(from: string, to: string): boolean {
    return this.#counts.get(from)?.has(to) ?? false
  }

  of(from: string): Iterable<string> {
    return this.#counts.get(from)?.keys() ?? []
  }
}

type Edge = readonly [from: string, to: string]

const idOf = (kind: Related, namespace: string, name: string) => `${kind}/${namespace}/${name}`

export class NodeGraph {
  /** From an object to its nodes. */
  readonly #nodes = new Counted()
  /** From a secret to its volumes, and from a volume to its claim. */
  readonly #volumes = new Counted()
  readonly #podEdges = new Map<
    string,
    { node: string; uid: string; later: string; edges: Edge[] }
  >()
  readonly #volumeEdges = new Map<string, Edge[]>()
  readonly #attachments = new Map<string, Edge>()
  readonly #nodeConfigs = new Map<string, Edge>()
  readonly #owned = new Map<string, Edge>()

  isRelated(kind: Related, namespace: string, name: string, node: string): boolean {
    if (kind === 'pod') return this.#podEdges.get(`${namespace}/${name}`)?.node === node
    const id = idOf(kind, namespace, name)
    if (this.#nodes.has(id, node)) return true
    for (const next of this.#volumes.of(id)) {
      if (this.#nodes.has(next, node)) return true
      for (const claim of this.#volumes.of(next)) if (this.#nodes.has(claim, node)) return true
    }
    return false
  }

  setPod(pod: KubeObject): void {
    const { namespace = '', name = '', uid = '' } = pod.metadata
    const node: string = pod.spec?.nodeName ?? ''
    if (node === '') return
    const key = `${namespace}/${name}`
    const before = this.#podEdges.get(key)
    // The references of a scheduled pod are fixed, except for resource claims and ephemeral
    // containers.
    const later = lateReferences(pod)
    if (before?.node === node && before.uid === uid && before.later === later) return
    this.removePod(namespace, name)
    const edges = podEdges(pod, namespace, node)
    for (const [from, to] of edges) this.#nodes.add(from, to)
    this.#podEdges.set(key, { node, uid, later, edges })
  }

  removePod(namespace: string, name: string): void {
    const key = `${namespace}/${name}`
    for (const [from, to] of this.#podEdges.get(key)?.edges ?? []) this.#nodes.remove(from, to)
    this.#podEdges.delete(key)
  }

  setVolume(volume: KubeObject): void {
    const name = volume.metadata.name ?? ''
    this.removeVolume(name)
    const claim = volume.spec?.claimRef
    if (claim == null) return
    const id = idOf('volume', '', name)
    const edges: Edge[] = [[id, idOf('claim', claim.namespace ?? '', claim.name ?? '')]]
    for (const { namespace, name: secret } of volumeSecrets(volume))
      edges.push([idOf('secret', namespace, secret), id])
    for (const [from, to] of edges) this.#volumes.add(from, to)
    this.#volumeEdges.set(name, edges)
  }

  removeVolume(name: string): void {
    for (const [from, to] of this.#volumeEdges.get(name) ?? []) this.#volumes.remove(from, to)
    this.#volumeEdges.delete(name)
  }

  setAttachment(attachment: KubeObject): void {
    const name = attachment.metadata.name ?? ''
    const node: string = attachment.spec?.nodeName ?? ''
    this.#replace(this.#attachments, name, node && [idOf('attachment', '', name), node])
  }

  removeAttachment(name: string): void {
    this.#replace(this.#attachments, name, '')
  }

  setOwned(kind: Owned, object: KubeObject): void {
    const id = ownedId(kind, object)
    const node: string = object.spec?.nodeName ?? ''
    this.#replace(this.#owned, id, node && [id, node])
  }

  removeOwned(kind: Owned, object: KubeObject): void {
    this.#replace(this.#owned, ownedId(kind, object), '')
  }

  setNode(node: KubeObject): void {
    const name = node.metadata.name ?? ''
    const source: Loose | undefined = node.spec?.configSource?.configMap
    const { namespace = '', name: map = '' } = source ?? {}
    const edge: Edge | '' = namespace && map && [idOf('configmap', namespace, map), name]
    this.#replace(this.#nodeConfigs, name, edge)
  }

  removeNode(name: string): void {
    this.#replace(this.#nodeConfigs, name, '')
  }

  #replace(edges: Map<string, Edge>, key: string, edge: Edge | ''): void {
    const before = edges.get(key)
    if (before !== undefined) this.#nodes.remove(...before)
    edges.delete(key)
    if (edge === '') return
    this.#nodes.add(...edge)
    edges.set(key, edge)
  }
}

const ownedId = (kind: Owned, { metadata }: KubeObject): string =>
  idOf(kind, metadata.namespace ?? '', metadata.name ?? '')

/** Names of the ResourceClaims of a pod, including generated ones. */
function resourceClaims({ spec, status }: KubeObject): string[] {
  const made: Loose[] = status?.resourceClaimStatuses ?? []
  const names = ((spec?.resourceClaims ?? []) as Loose[]).map(
    ({ name, resourceClaimName, resourceClaimTemplateName }) =>
      resourceClaimTemplateName === undefined
        ? resourceClaimName
        : made.find((one) => one.name === name)?.resourceClaimName,
  )
  const extended = status?.extendedResourceClaimStatus?.resourceClaimName
  return [...names, extended].filter((name) => Boolean(name))
}

const lateReferences = (pod: KubeObject): string =>
  `${pod.spec?.ephemeralContainers?.length ?? 0} ${resourceClaims(pod).join(' ')}`

function podEdges(pod: KubeObject, namespace: string, node: string): Edge[] {
  // The node itself creates mirror pods, so they must not give it permissions.
  const annotations = pod.metadata.annotations
  if (annotations != null && Object.hasOwn(annotations, 'kubernetes.io/config.mirror')) return []
  const ids: string[] = []
  const { serviceAccountName = '', volumes = [] } = pod.spec
  if (serviceAccountName !== '') ids.push(idOf('serviceaccount', namespace, serviceAccountName))
  for (const name of podSecretNames(pod)) ids.push(idOf('secret', namespace, name))
  for (const name of podConfigMapNames(pod)) ids.push(idOf('configmap', namespace, name))
  for (const volume of volumes as Loose[]) {
    const claim = volume.persistentVolumeClaim?.claimName
    if (claim != null) ids.push(idOf('claim', namespace, claim))
    else if (volume.ephemeral != null)
      ids.push(idOf('claim', namespace, `${pod.metadata.name}-${volume.name}`))
  }
  for (const name of resourceClaims(pod)) ids.push(idOf('resourceclaim', namespace, name))
  return [...new Set(ids)].map((id) => [id, node])
}
