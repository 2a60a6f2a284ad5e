/**
 * Processes one object that may be garbage. It deletes an object without owners, removes references
 * to deleted owners, or removes a finalizer when all dependents are deleted. It reads the object
 * before each change, and writes with its resourceVersion as a precondition. So an outdated graph
 * never deletes a wrong object.
 */
import type { KubeObject, OwnerReference } from '#api/object-meta.ts'
import { ApiError, pathNotFound } from '#api/status-error.ts'
import { severalAtOnce } from '#base/several-at-once.ts'
import type { ApiClient, DeleteQuery, ResourceRef } from '#client/client.ts'
import { nameOf } from '#client/reflector.ts'
import { isMissing, unlessMissing } from '#controllers/queue-for.ts'
import { foregroundFinalizer, type Graph, type OwnerNode, orphanFinalizer } from './graph.ts'
import type { OwnerKinds } from './owner-kinds.ts'

/** Number of cached absent owners, so that each is looked up once instead of once per dependent. */
const absentOwnersMax = 500

/** Dependents that are orphaned concurrently; each needs a read and a write. */
const orphanedAtOnce = 8

/** The kind of an owner is not served: perhaps not yet. */
export class UnknownOwnerKind extends Error {}

const notServed = pathNotFound().message
const isNotServed = (error: unknown) => isMissing(error) && (error as Error).message === notServed

export class Collector {
  readonly #client: ApiClient
  readonly #graph: Graph
  readonly #kinds: OwnerKinds
  readonly #examine: (node: OwnerNode) => void
  readonly #absent = new Set<string>()

  constructor(
    client: ApiClient,
    graph: Graph,
    kinds: OwnerKinds,
    examine: (node: OwnerNode) => void,
  ) {
    this.#client = client
    this.#graph = graph
    this.#kinds = kinds
    this.#examine = examine
  }

  async collect(node: OwnerNode): Promise<void> {
    if (this.#graph.get(node.uid) !== node) return
    if (node.deleting && !node.foreground) return
    const resource = this.#resourceOf(node)
    const latest = await this.#read(resource, node)
    if (this.#graph.get(node.uid) !== node) return
    if (latest === undefined) {
      this.#graph.deleted(node.uid)
      return
    }
    if (!node.observed) this.#graph.changed(resource, latest)
    if (node.foreground) return this.#finishForegroundDeletion(node, resource, latest)
    const owners = latest.metadata.ownerReferences ?? []
    if (owners.length > 0) await this.#collectUnlessOwned(node, resource, latest, owners)
  }

  #resourceOf(node: OwnerNode): ResourceRef {
    if (node.resource !== undefined) return node.resource
    const reference = node.reference as OwnerReference
    const served = this.#kinds.of(reference)
    if (served === undefined) {
      throw new UnknownOwnerKind(
        `no resource is served for ${reference.apiVersion} ${reference.kind}`,
      )
    }
    return served
  }

  /** The current object. Undefined if it was deleted or another object has its name. */
  async #read(
    resource: ResourceRef,
    { namespace, name, uid }: OwnerNode,
  ): Promise<KubeObject | undefined> {
    if (namespace === '' && this.#kinds.isNamespaced(resource)) return undefined
    const latest = await this.#named(resource, namespace, name)
    return latest?.metadata.uid === uid ? latest : undefined
  }

  /**
   * The object that has this name now. If the version is not served any more, the object may still
   * exist: the controller will soon watch it in another version.
   */
  #named(resource: ResourceRef, namespace: string, name: string): Promise<KubeObject | undefined> {
    return unlessMissing(
      this.#client.get(resource, namespace, name).catch((error) => {
        throw isNotServed(error) ? new UnknownOwnerKind(`${nameOf(resource)}: not served`) : error
      }),
    )
  }

  /** Deletes the object if no owner is solid. Otherwise removes the references to other owners. */
  async #collectUnlessOwned(
    node: OwnerNode,
    resource: ResourceRef,
    latest: KubeObject,
    owners: readonly OwnerReference[],
  ): Promise<void> {
    const solid: OwnerReference[] = []
    let waiting = 0
    for (const owner of owners) {
      const state = await this.#stateOf(owner, node)
      if (state === 'invalid') return
      if (state === 'solid') solid.push(owner)
      else if (state === 'waiting') waiting++
    }
    if (solid.length === owners.length) return
    if (solid.length > 0) return this.#patchOwnerReferences(resource, latest, solid)
    const query = { uid: node.uid, resourceVersion: latest.metadata.resourceVersion }
    if (waiting > 0 && node.dependents.size > 0) {
      // Owners and dependents that wait for each other would wait for ever.
      if ([...node.dependents].some(({ foreground }) => foreground)) {
        const unblocking = owners.map((owner) => ({ ...owner, blockOwnerDeletion: false }))
        await this.#patchOwnerReferences(resource, latest, unblocking)
        query.resourceVersion = undefined
      }
      return this.#delete(resource, node, { ...query, propagationPolicy: 'Foreground' })
    }
    const finalizers = latest.metadata.finalizers ?? []
    const propagationPolicy = finalizers.includes(orphanFinalizer)
      ? 'Orphan'
      : finalizers.includes(foregroundFinalizer)
        ? 'Foreground'
        : 'Background'
    return this.#delete(resource, node, { ...query, propagationPolicy })
  }

  async #delete(resource: ResourceRef, node: OwnerNode, query: DeleteQuery): Promise<void> {
    await this.#client.delete(resource, node.namespace, node.name, query).catch((error) => {
      if (!isMissing(error)) throw error
    })
  }

  async #patchOwnerReferences(
    resource: ResourceRef,
    latest: KubeObject,
    owners: OwnerReference[],
  ): Promise<void> {
    const { namespace = '', name = '', uid, resourceVersion } = latest.metadata
    const metadata = { uid, resourceVersion, ownerReferences: owners.length === 0 ? null : owners }
    await unlessMissing(this.#client.patch(resource, namespace, name, { metadata }))
  }

  /** A solid owner exists. A waiting owner is deleted after its dependents. */
  async #stateOf(
    owner: OwnerReference,
    node: OwnerNode,
  ): Promise<'solid' | 'waiting' | 'absent' | 'invalid'> {
    const key = `${owner.uid} ${owner.apiVersion} ${owner.kind} ${owner.name} ${node.namespace}`
    if (node.ended?.has(owner.uid) || this.#absent.has(key)) return 'absent'
    const served = this.#kinds.of(owner)
    if (served === undefined) {
      throw new UnknownOwnerKind(`no resource is served for ${owner.apiVersion} ${owner.kind}`)
    }
    // A cluster-scoped object cannot have a namespaced owner; such a reference is invalid.
    if (served.namespaced && node.namespace === '') return 'invalid'
    const known = this.#graph.get(owner.uid)
    const namespace = served.namespaced ? node.namespace : ''
    const agrees =
      known?.observed === true &&
      known.name === owner.name &&
      known.namespace === namespace &&
      known.resource !== undefined &&
      nameOf(known.resource) === nameOf(served)
    if (agrees) return known.foreground ? 'waiting' : 'solid'
    let found = await this.#named(served, namespace, owner.name)
    if (found?.metadata.uid === owner.uid) {
      // Read again: if the owner was deleted between the read and its addition to the graph, the
      // graph does not see the deletion.
      this.#graph.adopt(served, found, node)
      found = await this.#named(served, namespace, owner.name)
      if (found?.metadata.uid !== owner.uid) this.#graph.deleted(owner.uid)
    }
    if (found?.metadata.uid !== owner.uid) {
      this.#absent.add(key)
      if (this.#absent.size > absentOwnersMax) {
        this.#absent.delete(this.#absent.values().next().value as string)
      }
      return 'absent'
    }
    const { deletionTimestamp, finalizers = [] } = found.metadata
    const waits = deletionTimestamp !== undefined && finalizers.includes(foregroundFinalizer)
    return waits ? 'waiting' : 'solid'
  }

  /**
   * Removes the finalizer if no dependent blocks the deletion. Otherwise examines the dependents
   * that block it.
   */
  async #finishForegroundDeletion(
    node: OwnerNode,
    resource: ResourceRef,
    latest: KubeObject,
  ): Promise<void> {
    let blocked = false
    for (const dependent of node.dependents) {
      // A dependent may have two references to the owner, of which only one blocks the deletion.
      if (!dependent.owners.some((one) => one.uid === node.uid && one.blockOwnerDeletion)) continue
      blocked = true
      if (!dependent.foreground) this.#examine(dependent)
    }
    if (!blocked) await this.#removeFinalizer(resource, latest, foregroundFinalizer)
  }

  async #removeFinalizer(
    resource: ResourceRef,
    latest: KubeObject,
    finalizer: string,
  ): Promise<void> {
    const { namespace = '', name = '', uid, resourceVersion, finalizers = [] } = latest.metadata
    if (!finalizers.includes(finalizer)) return
    const left = finalizers.filter((one) => one !== finalizer)
    const metadata = { uid, resourceVersion, finalizers: left.length === 0 ? null : left }
    await unlessMissing(this.#client.patch(resource, namespace, name, { metadata }))
  }

  /** Removes the references of all dependents to the owner, then the owner's finalizer. */
  async orphan(node: OwnerNode): Promise<void> {
    const resource = this.#resourceOf(node)
    const failures: unknown[] = []
    await severalAtOnce([...node.dependents], orphanedAtOnce, (dependent) =>
      this.#orphanDependent(dependent, node.uid).catch((error) => failures.push(error)),
    )
    if (failures.length > 0) throw failures[0]
    const latest = await this.#read(resource, node)
    if (latest !== undefined) await this.#removeFinalizer(resource, latest, orphanFinalizer)
  }

  async #orphanDependent(dependent: OwnerNode, ownerUid: string): Promise<void> {
    const resource = this.#resourceOf(dependent)
    for (let tries = 0; ; tries++) {
      const latest = await this.#read(resource, dependent)
      const owners = latest?.metadata.ownerReferences ?? []
      const left = owners.filter(({ uid }) => uid !== ownerUid)
      if (latest === undefined || left.length === owners.length) return
      try {
        return await this.#patchOwnerReferences(resource, latest, left)
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 409 || tries >= 5) throw error
      }
    }
  }
}
