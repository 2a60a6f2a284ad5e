/**
 * Keeps the number of pods of replica sets or replication controllers, and their status. Each pass
 * reads the pods from the server, so that it counts the pods that it made itself. It expects of its
 * informers only that they report changes.
 */
import { formatSelector, type LabelSelector } from '#api/label-selector.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { Informer } from '#client/informer.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import type { KeptOwned, KeptSelecting } from '#controllers/kept.ts'
import { isConflict, queueFor, splitKey, unlessMissing } from '#controllers/queue-for.ts'
import { pods } from '#controllers/resources.ts'
import { eventRecorder } from '#controllers/workloads/event-recorder.ts'
import { claimObjects, type OwnerKind } from '#controllers/workloads/ownership.ts'
import { OwnerIndex } from '#controllers/workloads/owner-index.ts'
import {
  createPod,
  deletePod,
  type PodWriter,
  slowStart,
} from '#controllers/workloads/pod-writes.ts'
import { isActive, isTerminatingPod } from '#controllers/workloads/pod-states.ts'
import { exceptReported, ReportedInStatus } from '#controllers/workloads/reported-in-status.ts'
import { podsToDelete } from './pods-to-delete.ts'
import { nextAvailableInMs, replicaStatus } from './replica-status.ts'

export interface ReplicaKind {
  readonly controller: Pick<Controller, 'name' | 'account'>
  /** The source of its events. */
  readonly component: string
  readonly ownerKind: OwnerKind
  readonly selectorOf: (owner: KubeObject) => LabelSelector
  readonly owners: (parts: ControllerParts) => Informer<KeptSelecting>
  /** Whether the status counts terminating pods, if the feature is on. */
  readonly hasTerminating: boolean
}

/** Most pods made or deleted in one pass. */
const burstMax = 500
/** Pods often change together. */
const pauseMs = 20

export const replicaManager = (kind: ReplicaKind): Controller => ({
  ...kind.controller,
  start(parts) {
    const { name } = kind.controller
    const owners = kind.owners(parts)
    const owned = parts.informers.ownedPods()
    const report = exceptReported(parts.report)
    const manager = new ReplicaManager(kind, parts, owners)
    const queue = queueFor(name, { ...parts, report }, async (key) => {
      await owned.synced
      return manager.sync(key, index)
    })
    const index = new OwnerIndex(owners, owned, (key) => queue.addAfter(key, pauseMs))
    owners.listen({ changed: ({ namespace, name }) => queue.add(`${namespace}/${name}`) })
  },
})

class ReplicaManager {
  readonly #kind: ReplicaKind
  readonly #parts: ControllerParts
  readonly #owners: Informer<KeptSelecting>
  readonly #writer: PodWriter

  constructor(kind: ReplicaKind, parts: ControllerParts, owners: Informer<KeptSelecting>) {
    this.#kind = kind
    this.#parts = parts
    this.#owners = owners
    const record = eventRecorder(kind.component, kind.ownerKind, parts)
    this.#writer = { client: parts.client, ownerKind: kind.ownerKind, record }
  }

  /** Resolves with the time after which the next pod becomes available, if one waits for it. */
  async sync(key: string, index: OwnerIndex): Promise<number | undefined> {
    const { client, clock, feature } = this.#parts
    const { ownerKind, hasTerminating } = this.#kind
    const { resource } = ownerKind
    const [namespace, name] = splitKey(key)
    const owner = await unlessMissing(client.get(resource, namespace, name))
    if (owner === undefined) return
    const selector = this.#kind.selectorOf(owner)
    if (selector === 'nothing') return
    const found = await this.#podsOf(owner, selector, index.ownedBy(owner.metadata.uid as string))
    const options = { client, ownerKind, owner, selector, resource: pods }
    const active = await claimObjects(found.filter(isActive), options)
    const isLeaving = owner.metadata.deletionTimestamp !== undefined
    const failure = isLeaving ? undefined : await this.#manage(owner, active)
    const counts = hasTerminating && feature('DeploymentReplicaSetTerminatingReplicas')
    const terminating = counts ? found.filter(isTerminatingOf(owner)) : undefined
    const now = clock.now()
    const counted = { active, terminating, failure: failure?.message }
    const status = replicaStatus(owner, counted, now)
    if (status !== undefined)
      await unlessMissing(client.update(resource, { ...owner, status }, 'status'))
    if (failure !== undefined)
      throw isConflict(failure) ? failure : new ReportedInStatus(failure.message)
    return nextAvailableInMs(active, owner.spec?.minReadySeconds ?? 0, now)
  }

  /** The pods that match, and those that the owner still has though they do not match. */
  async #podsOf(
    { metadata }: KubeObject,
    selector: LabelSelector,
    owned: Iterable<KeptOwned>,
  ): Promise<KubeObject[]> {
    const { client } = this.#parts
    const namespace = metadata.namespace as string
    const { items } = await client.list(pods, namespace, {
      labelSelector: formatSelector(selector),
    })
    const listed = new Set(items.map((pod) => pod.metadata.uid))
    const others = [...owned].filter(({ uid }) => !listed.has(uid))
    const read = await Promise.all(
      others.map(({ name }) => unlessMissing(client.get(pods, namespace, name))),
    )
    for (const pod of read) if (pod !== undefined) items.push(pod)
    return items
  }

  /** Makes missing pods or deletes superfluous ones. The response is the failure, if any. */
  async #manage(owner: KubeObject, active: readonly KubeObject[]): Promise<Error | undefined> {
    const difference = active.length - (owner.spec?.replicas ?? 1)
    try {
      if (difference < 0)
        await slowStart(Math.min(-difference, burstMax), () => createPod(this.#writer, owner))
      else if (difference > 0) await this.#shrink(owner, active, Math.min(difference, burstMax))
      return undefined
    } catch (error) {
      return error as Error
    }
  }

  async #shrink(owner: KubeObject, active: readonly KubeObject[], count: number): Promise<void> {
    const { clock, feature, release } = this.#parts
    const chosen = podsToDelete(active, count, {
      related: await this.#relatedPods(owner),
      costs: feature('PodDeletionCost'),
      release,
      nowMs: clock.now(),
    })
    const results = await Promise.allSettled(
      chosen.map((pod) => deletePod(this.#writer, owner, pod)),
    )
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  /** The pods of all replica sets of the same deployment. */
  async #relatedPods({ metadata }: KubeObject): Promise<KubeObject[]> {
    const { client } = this.#parts
    const { namespace = '', name = '' } = metadata
    const above = this.#owners.get(namespace, name)?.owner ?? ''
    if (above === '') return []
    const found = new Map<string | undefined, KubeObject>()
    for (const other of this.#owners.values()) {
      if (other.namespace !== namespace || other.owner !== above) continue
      const labelSelector = formatSelector(other.selector)
      const { items } = await client.list(pods, namespace, { labelSelector })
      for (const pod of items) found.set(pod.metadata.uid, pod)
    }
    return [...found.values()]
  }
}

const isTerminatingOf = (owner: KubeObject) => (pod: KubeObject) =>
  isTerminatingPod(pod) &&
  (pod.metadata.ownerReferences ?? []).some(
    ({ uid, controller }) => controller === true && uid === owner.metadata.uid,
  )
