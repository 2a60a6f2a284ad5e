/**
 * The graph of owner references that watches have reported. It has a node for every object that has
 * owners, is an owner, or waits for its dependents. Other objects use no memory. An owner that no
 * watch has reported is not `observed`; the collector looks it up before any decision.
 *
 *   pod ─owners→ replica set ─owners→ deployment        dependents are the same edges backwards
 */
import type { KubeObject, OwnerReference } from '#api/object-meta.ts'
import type { ResourceRef } from '#client/client.ts'

export interface OwnerNode {
  readonly uid: string
  resource: ResourceRef | undefined
  /** The owner reference, if no watch has reported the object itself. */
  reference: OwnerReference | undefined
  namespace: string
  name: string
  owners: readonly OwnerReference[]
  /**
   * Uids of deleted owners: their kind may be deleted with them, and then they cannot be looked up.
   */
  ended: Set<string> | undefined
  readonly dependents: Set<OwnerNode>
  observed: boolean
  deleting: boolean
  /** Foreground deletion: the object is kept until its dependents are deleted. */
  foreground: boolean
  /** Orphaning: owner references of its dependents are removed first. */
  orphaning: boolean
  /** The number of the last list that contained it. */
  seen: number
}

export interface GraphEvents {
  /** It may have become garbage, or may lose its finalizer. */
  examine(node: OwnerNode): void
  orphan(node: OwnerNode): void
  /** The resource of a reference; undefined if it is unknown. */
  resourceOf(reference: OwnerReference): ResourceRef | undefined
}

export const foregroundFinalizer = 'foregroundDeletion'
export const orphanFinalizer = 'orphan'

const noOwners: readonly OwnerReference[] = []
const isSame = (a: ResourceRef | undefined, b: ResourceRef) =>
  a?.plural === b.plural && a.group === b.group

export class Graph {
  readonly #nodes = new Map<string, OwnerNode>()
  readonly #events: GraphEvents

  constructor(events: GraphEvents) {
    this.#events = events
  }

  get size(): number {
    return this.#nodes.size
  }

  get(uid: string): OwnerNode | undefined {
    return this.#nodes.get(uid)
  }

  /** `round` is the number of the list that contains the object; 0 for a watch event. */
  changed(resource: ResourceRef, { metadata }: KubeObject, round = 0): void {
    const uid = metadata.uid ?? ''
    const finalizers = metadata.finalizers ?? []
    const deleting = metadata.deletionTimestamp !== undefined
    const foreground = deleting && finalizers.includes(foregroundFinalizer)
    const orphaning = deleting && finalizers.includes(orphanFinalizer)
    const owners = metadata.ownerReferences ?? noOwners
    let node = this.#nodes.get(uid)
    if (node === undefined) {
      if (owners.length === 0 && !foreground && !orphaning) return
      node = this.#add(uid)
    }
    node.resource = resource
    node.reference = undefined
    node.namespace = metadata.namespace ?? ''
    node.name = metadata.name ?? ''
    if (round > 0) node.seen = round
    const first = !node.observed
    node.observed = true
    // A store that was set back has again what had ended.
    if (first) for (const dependent of node.dependents) dependent.ended?.delete(uid)
    node.deleting = deleting
    const startsForeground = foreground && !node.foreground
    const startsOrphaning = orphaning && !node.orphaning
    node.foreground = foreground
    node.orphaning = orphaning
    this.#setOwners(node, owners.length === 0 ? noOwners : owners, first)
    if (first) this.#examineMistaken(node)
    if (startsOrphaning) this.#events.orphan(node)
    if (!startsForeground) return
    for (const dependent of node.dependents) this.#events.examine(dependent)
    this.#events.examine(node)
  }

  /**
   * An owner that was found when its dependent was looked at: from now on its deletion is noticed.
   */
  adopt(resource: ResourceRef, owner: KubeObject, dependent: OwnerNode): void {
    const uid = owner.metadata.uid ?? ''
    if (this.#nodes.get(dependent.uid) !== dependent) return
    const node = this.#nodes.get(uid) ?? this.#add(uid)
    node.dependents.add(dependent)
    // A watch event during the lookup is newer than the result of the lookup.
    if (!node.observed) this.changed(resource, owner)
  }

  /** The owner certainly does not exist, even if a later read finds an object with its name. */
  ended(uid: string): void {
    const node = this.#nodes.get(uid)
    for (const dependent of node?.dependents ?? []) {
      // Ignore invalid owner references: a namespaced owner must be in the same namespace.
      if (node?.namespace !== '' && node?.namespace !== dependent.namespace) continue
      dependent.ended ??= new Set()
      dependent.ended.add(uid)
    }
    this.deleted(uid)
  }

  /** It is gone, or never was. Its dependents have one owner less. */
  deleted(uid: string): void {
    const node = this.#nodes.get(uid)
    if (node === undefined) return
    this.#nodes.delete(uid)
    for (const { uid: ownerUid } of node.owners) this.#unlink(node, ownerUid)
    for (const dependent of node.dependents) this.#events.examine(dependent)
  }

  /** A list of the resource is complete: nodes that it did not contain were deleted. */
  endRound(resource: ResourceRef, round: number): void {
    const gone: string[] = []
    for (const [uid, node] of this.#nodes) {
      if (node.observed && node.seen < round && isSame(node.resource, resource)) gone.push(uid)
    }
    for (const uid of gone) this.deleted(uid)
  }

  #add(uid: string): OwnerNode {
    const node: OwnerNode = {
      uid,
      resource: undefined,
      reference: undefined,
      namespace: '',
      name: '',
      owners: noOwners,
      ended: undefined,
      dependents: new Set(),
      observed: false,
      deleting: false,
      foreground: false,
      orphaning: false,
      seen: 0,
    }
    this.#nodes.set(uid, node)
    return node
  }

  #setOwners(node: OwnerNode, owners: readonly OwnerReference[], first: boolean): void {
    const before = node.owners
    node.owners = owners
    let added = false
    for (const owner of owners) {
      const old = before.find(({ uid }) => uid === owner.uid)
      // An owner that waited for this dependent may wait no longer.
      if (old?.blockOwnerDeletion && !owner.blockOwnerDeletion) this.#examineWaiting(owner.uid)
      if (old === undefined) added = true
      this.#link(node, owner)
    }
    for (const { uid } of before) {
      if (!owners.some((owner) => owner.uid === uid)) this.#unlink(node, uid)
    }
    // Existing owners are trusted. An owner whose kind or namespace differs from the reference is
    // examined.
    if ((added || first) && owners.some((owner) => this.#disagrees(owner, node))) {
      this.#events.examine(node)
    }
  }

  /** Dependents that took an owner for another object before it was seen. */
  #examineMistaken(owner: OwnerNode): void {
    for (const dependent of owner.dependents) {
      const reference = dependent.owners.find(({ uid }) => uid === owner.uid)
      if (reference && this.#disagrees(reference, dependent)) this.#events.examine(dependent)
    }
  }

  #disagrees(owner: OwnerReference, node: OwnerNode): boolean {
    const known = this.#nodes.get(owner.uid)
    if (known?.observed !== true) return false
    if (known.name !== owner.name || known.foreground) return true
    const named = this.#events.resourceOf(owner)
    if (named !== undefined && !isSame(known.resource, named)) return true
    return known.namespace !== '' && known.namespace !== node.namespace
  }

  #link(node: OwnerNode, reference: OwnerReference): void {
    let owner = this.#nodes.get(reference.uid)
    if (owner === undefined) {
      owner = this.#add(reference.uid)
      owner.reference = reference
      owner.name = reference.name
      owner.namespace = node.namespace
    }
    if (owner.dependents.has(node)) return
    owner.dependents.add(node)
    if (!owner.observed) this.#events.examine(owner)
  }

  #unlink(node: OwnerNode, ownerUid: string): void {
    const owner = this.#nodes.get(ownerUid)
    if (owner === undefined || !owner.dependents.delete(node)) return
    if (owner.foreground) this.#events.examine(owner)
    const idle = owner.dependents.size === 0 && owner.owners.length === 0
    if (idle && !owner.foreground && !owner.orphaning) this.#nodes.delete(ownerUid)
  }

  #examineWaiting(uid: string): void {
    const owner = this.#nodes.get(uid)
    if (owner?.foreground) this.#events.examine(owner)
  }
}
