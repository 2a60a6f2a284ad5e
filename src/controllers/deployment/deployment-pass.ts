/**
 * One pass over a deployment: the replica sets it owns, the next step of its rollout, and its
 * status. Reads everything from the server. A later pass makes the next step, after the replica
 * sets have changed.
 */
import { isDeepStrictEqual } from 'node:util'
import { formatSelector } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { ControllerParts } from '#controllers/controller.ts'
import { type KeptOwned, selectorOfWorkload } from '#controllers/kept.ts'
import { splitKey, unlessMissing } from '#controllers/queue-for.ts'
import { deployments, pods, replicaSets } from '#controllers/resources.ts'
import { claimObjects, controllerOf } from '#controllers/workloads/ownership.ts'
import type { OwnerIndex } from '#controllers/workloads/owner-index.ts'
import { hasEnded } from '#controllers/workloads/pod-states.ts'
import { CurrentSet } from './current-set.ts'
import { deploymentStatus, isComplete } from './deployment-status.ts'
import { deleteSet, scaleSet, type SetWriter } from './replica-sets.ts'
import { requestedRevision, rollback } from './rollback.ts'
import {
  expiredSets,
  isResized,
  resize,
  type Rollout,
  rolloutOf,
  scaleCurrent,
  scaleOld,
  type Scaling,
} from './rollout.ts'
import { replicasOf, revisionHistoryLimit } from './rollout-limits.ts'
import { deadlineInMs, pauseCondition, progressConditions } from './rollout-progress.ts'

export class DeploymentPass {
  readonly #parts: ControllerParts
  readonly #writer: SetWriter
  readonly #current: CurrentSet

  constructor(parts: ControllerParts, writer: SetWriter) {
    this.#parts = parts
    this.#writer = writer
    this.#current = new CurrentSet(parts, writer)
  }

  /** Resolves with the time after which the deadline of the rollout must be checked. */
  async run(key: string, index: OwnerIndex): Promise<number | undefined> {
    const { client } = this.#parts
    const [namespace, name] = splitKey(key)
    const found = await unlessMissing(client.get(deployments, namespace, name))
    if (found === undefined) return
    const sets = await this.#claimSets(found, index.ownedBy(found.metadata.uid as string))
    if (sets === undefined) return
    if (found.metadata.deletionTimestamp !== undefined)
      return this.#writeStatus(rolloutOf(found, sets))
    const pause = pauseCondition(found)
    const deployment =
      pause === undefined ? found : await this.#current.writeCondition(found, pause)
    const revision = requestedRevision(deployment)
    if (revision !== undefined && !deployment.spec?.paused)
      return this.#rollBack(rolloutOf(deployment, sets), revision)
    const rollout = await this.#current.sync(rolloutOf(deployment, sets))
    if (deployment.spec?.paused || isResized(rollout)) return this.#resize(rollout)
    return deployment.spec?.strategy?.type === 'Recreate'
      ? this.#recreate(rollout)
      : this.#roll(rollout)
  }

  /** Undefined if the deployment selects nothing. */
  async #claimSets(
    owner: KubeObject,
    owned: Iterable<KeptOwned>,
  ): Promise<KubeObject[] | undefined> {
    const { client } = this.#parts
    const selector = selectorOfWorkload(owner)
    const labelSelector = formatSelector(selector)
    if (selector === 'nothing' || labelSelector === '') return undefined
    const namespace = owner.metadata.namespace as string
    const { items } = await client.list(replicaSets, namespace, { labelSelector })
    const listed = new Set(items.map(({ metadata }) => metadata.uid))
    const others = [...owned].filter(({ uid }) => !listed.has(uid))
    const read = await Promise.all(
      others.map(({ name }) => unlessMissing(client.get(replicaSets, namespace, name))),
    )
    for (const set of read) if (set !== undefined) items.push(set)
    const { ownerKind } = this.#writer
    return claimObjects(items, { client, ownerKind, owner, selector, resource: replicaSets })
  }

  async #rollBack(found: Rollout, revision: number): Promise<undefined> {
    const rollout = found.current
      ? await this.#current.sync(found)
      : await this.#current.create(found)
    if (rollout === undefined) return
    const { deployment, type, reason, message } = rollback(rollout, revision)
    await this.#parts.client.update(deployments, deployment)
    this.#writer.record(deployment, type, reason, message)
  }

  async #resize(rollout: Rollout): Promise<undefined> {
    const scaled = await this.#scale(rollout, resize(rollout))
    if (rollout.deployment.spec?.paused) await this.#cleanUp(scaled)
    return this.#writeStatus(scaled)
  }

  async #roll(found: Rollout): Promise<number | undefined> {
    const rollout = found.current ? found : await this.#current.create(found)
    if (rollout === undefined) return
    const grown = scaleCurrent(rollout)
    const scalings = grown.length > 0 ? grown : scaleOld(rollout)
    return this.#finish(rollout, scalings)
  }

  /** Old pods end before new ones begin. */
  async #recreate(found: Rollout): Promise<number | undefined> {
    const scalings = found.old
      .filter((set) => replicasOf(set) > 0)
      .map((set): Scaling => ({ set, replicas: 0 }))
    if (scalings.length > 0 || (await this.#hasOldPods(found))) return this.#finish(found, scalings)
    const rollout = found.current ? found : await this.#current.create(found)
    if (rollout?.current === undefined) return
    const replicas = replicasOf(rollout.deployment)
    const isScaled = replicasOf(rollout.current) === replicas
    return this.#finish(rollout, isScaled ? [] : [{ set: rollout.current, replicas }])
  }

  async #finish(rollout: Rollout, scalings: readonly Scaling[]): Promise<number | undefined> {
    const { deployment } = rollout
    const scaled = await this.#scale(rollout, scalings)
    if (scalings.length === 0 && isComplete(deployment, deployment.status))
      await this.#cleanUp(rollout)
    const { hasTerminating, nowMs } = this.#statusOptions()
    const status = deploymentStatus(scaled, { hasTerminating, nowMs })
    status.conditions = progressConditions(scaled, status, nowMs)
    await this.#update(deployment, status)
    return deadlineInMs(deployment, status, nowMs)
  }

  async #hasOldPods({ deployment, current, old }: Rollout): Promise<boolean> {
    if (old.some(({ status }) => (status?.replicas ?? 0) > 0)) return true
    const namespace = deployment.metadata.namespace as string
    const labelSelector = formatSelector(selectorOfWorkload(deployment))
    const { items } = await this.#parts.client.list(pods, namespace, { labelSelector })
    const uids = new Set(old.map(({ metadata }) => metadata.uid))
    return items.some((pod) => {
      const owner = controllerOf(pod.metadata)?.uid
      return owner !== current?.metadata.uid && uids.has(owner) && !hasEnded(pod)
    })
  }

  /** The rollout with the replica sets as they are afterwards. */
  async #scale(rollout: Rollout, scalings: readonly Scaling[]): Promise<Rollout> {
    const written = new Map<KubeObject, KubeObject>()
    for (const scaling of scalings)
      written.set(scaling.set, await scaleSet(this.#writer, rollout.deployment, scaling))
    const after = (set: KubeObject) => written.get(set) ?? set
    const { current, old } = rollout
    return { ...rollout, current: current && after(current), old: old.map(after) }
  }

  async #cleanUp({ deployment, old }: Rollout): Promise<void> {
    const limit = revisionHistoryLimit(deployment)
    if (limit === undefined) return
    for (const set of expiredSets(old, limit)) await deleteSet(this.#writer, set)
  }

  #statusOptions() {
    const { clock, feature } = this.#parts
    return {
      hasTerminating: feature('DeploymentReplicaSetTerminatingReplicas'),
      nowMs: clock.now(),
    }
  }

  async #writeStatus(rollout: Rollout): Promise<undefined> {
    const status = deploymentStatus(rollout, this.#statusOptions())
    await this.#update(rollout.deployment, status)
  }

  async #update(deployment: KubeObject, status: Loose): Promise<void> {
    if (isDeepStrictEqual(deployment.status, status)) return
    await unlessMissing(this.#parts.client.update(deployments, { ...deployment, status }, 'status'))
  }
}
