/**
 * The replica set for the current template of a deployment: made where it is missing, and recorded
 * in the deployment with its revision.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { ControllerParts } from '#controllers/controller.ts'
import { isTerminating, unlessMissing } from '#controllers/queue-for.ts'
import { deployments, replicaSets } from '#controllers/resources.ts'
import { withCondition, type WorkloadCondition } from '#controllers/workloads/conditions.ts'
import { controllerOf } from '#controllers/workloads/ownership.ts'
import { ReportedInStatus } from '#controllers/workloads/reported-in-status.ts'
import { createSet, newReplicaSet, type SetWriter, updateCurrent } from './replica-sets.ts'
import { revisionKey } from './revisions.ts'
import type { Rollout } from './rollout.ts'
import { progressDeadlineSeconds } from './rollout-limits.ts'
import { createdSet, failedSet, foundSet, hasProgress } from './rollout-progress.ts'
import { hasTemplate } from './template-hash.ts'

export class CurrentSet {
  readonly #parts: ControllerParts
  readonly #writer: SetWriter

  constructor(parts: ControllerParts, writer: SetWriter) {
    this.#parts = parts
    this.#writer = writer
  }

  /** The revision in the deployment follows that of its current replica set. */
  async sync(rollout: Rollout): Promise<Rollout> {
    const { current } = rollout
    if (current === undefined) return rollout
    const set = await updateCurrent(this.#writer, rollout, current)
    const { deployment } = rollout
    const isFound = progressDeadlineSeconds(deployment) !== undefined && !hasProgress(deployment)
    const name = set.metadata.name as string
    const next = await this.#writeRevision(deployment, set, isFound ? foundSet(name) : undefined)
    return { ...rollout, current: set, deployment: next }
  }

  async #writeRevision(
    deployment: KubeObject,
    set: KubeObject,
    condition: WorkloadCondition | undefined,
  ): Promise<KubeObject> {
    const revision = set.metadata.annotations?.[revisionKey] ?? ''
    const { annotations } = deployment.metadata
    if (annotations?.[revisionKey] === revision && condition === undefined) return deployment
    const metadata = {
      ...deployment.metadata,
      annotations: { ...annotations, [revisionKey]: revision },
    }
    return this.writeCondition({ ...deployment, metadata }, condition)
  }

  writeCondition(
    deployment: KubeObject,
    condition: WorkloadCondition | undefined,
  ): Promise<KubeObject> {
    const { client, clock } = this.#parts
    if (condition === undefined) return client.update(deployments, deployment, 'status')
    const { conditions = [] } = deployment.status ?? {}
    const status = {
      ...deployment.status,
      conditions: withCondition(conditions, condition, clock.now(), true),
    }
    return client.update(deployments, { ...deployment, status }, 'status')
  }

  /** Undefined if the name of the replica set is taken: the next pass tries another name. */
  async create(rollout: Rollout): Promise<Rollout | undefined> {
    const { deployment } = rollout
    const wanted = newReplicaSet(this.#writer.ownerKind, rollout)
    const hasDeadline = progressDeadlineSeconds(deployment) !== undefined
    let current: KubeObject
    try {
      current = await createSet(this.#writer, deployment, wanted)
    } catch (error) {
      if (isTerminating(error)) return undefined
      if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists')
        return this.#createFailed(deployment, wanted, error as Error)
      const existing = await this.#existing(deployment, wanted)
      return existing && { ...rollout, current: existing }
    }
    const condition = hasDeadline ? createdSet(current.metadata.name as string) : undefined
    return {
      ...rollout,
      current,
      deployment: await this.#writeRevision(deployment, current, condition),
    }
  }

  async #createFailed(
    deployment: KubeObject,
    { metadata: { name } }: KubeObject,
    { message }: Error,
  ): Promise<never> {
    const text = `Failed to create new replica set "${name}": ${message}`
    this.#writer.record(deployment, 'Warning', 'ReplicaSetCreateError', text)
    if (progressDeadlineSeconds(deployment) !== undefined)
      await this.writeCondition(deployment, failedSet(text))
    throw new ReportedInStatus(text)
  }

  /** A replica set of this name and template, or another name for the next pass. */
  async #existing(deployment: KubeObject, wanted: KubeObject): Promise<KubeObject | undefined> {
    const { client } = this.#parts
    const { namespace = '', name = '' } = wanted.metadata
    const existing = await unlessMissing(client.get(replicaSets, namespace, name))
    const owner = existing && controllerOf(existing.metadata)?.uid
    if (owner === deployment.metadata.uid && existing && hasTemplate(existing, deployment))
      return existing
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1
    const status = { ...deployment.status, collisionCount }
    await client.update(deployments, { ...deployment, status }, 'status')
    return undefined
  }
}
