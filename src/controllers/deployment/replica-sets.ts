/** The writes of a deployment to its replica sets, with an event for each change of a size. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { ApiClient } from '#client/client.ts'
import { unlessOvertaken } from '#controllers/queue-for.ts'
import { replicaSets } from '#controllers/resources.ts'
import type { RecordEvent } from '#controllers/workloads/event-recorder.ts'
import { controllerReference, type OwnerKind } from '#controllers/workloads/ownership.ts'
import { currentAnnotations, newestRevision, sizeAnnotations } from './revisions.ts'
import { replicasOf } from './rollout-limits.ts'
import { type Rollout, type Scaling, sizeOfCurrent } from './rollout.ts'
import { hashLabel, replicaSetName, templateHash } from './template-hash.ts'

const scalingReason = 'ScalingReplicaSet'

export interface SetWriter {
  readonly client: ApiClient
  readonly ownerKind: OwnerKind
  readonly record: RecordEvent
}

/** The replica set for the template of a deployment. Pure. */
export function newReplicaSet(ownerKind: OwnerKind, rollout: Rollout): KubeObject {
  const { deployment, old } = rollout
  const { selector = {}, template = {}, minReadySeconds } = deployment.spec ?? {}
  const hash = templateHash(template, deployment.status?.collisionCount)
  const label = { [hashLabel]: hash }
  const labels = { ...template.metadata?.labels, ...label }
  const revision = newestRevision(old) + 1
  return {
    metadata: {
      name: replicaSetName(deployment.metadata.name as string, hash),
      namespace: deployment.metadata.namespace as string,
      labels,
      annotations: {
        ...currentAnnotations(deployment, undefined, revision),
        ...sizeAnnotations(deployment),
      },
      ownerReferences: [controllerReference(ownerKind, deployment)],
    },
    spec: {
      replicas: sizeOfCurrent({ ...rollout, current: undefined }),
      ...(minReadySeconds && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, ...label } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  }
}

export async function createSet(
  { client, record }: SetWriter,
  deployment: KubeObject,
  set: KubeObject,
): Promise<KubeObject> {
  const made = await client.create(replicaSets, set.metadata.namespace as string, set)
  const replicas = replicasOf(made)
  if (replicas > 0) {
    const message = `Scaled up replica set ${made.metadata.name} from 0 to ${replicas}`
    record(deployment, 'Normal', scalingReason, message)
  }
  return made
}

/** The replica set as stored. Writes it only if its size or its annotations differ. */
export async function scaleSet(
  { client, record }: SetWriter,
  deployment: KubeObject,
  { set, replicas }: Scaling,
): Promise<KubeObject> {
  const before = replicasOf(set)
  const sizes = sizeAnnotations(deployment)
  if (before === replicas && hasAll(set.metadata.annotations, sizes)) return set
  const scaled = await client.update(replicaSets, {
    ...set,
    metadata: { ...set.metadata, annotations: { ...set.metadata.annotations, ...sizes } },
    spec: { ...set.spec, replicas },
  })
  if (before !== replicas) {
    const direction = before < replicas ? 'up' : 'down'
    const what = `replica set ${set.metadata.name} from ${before} to ${replicas}`
    record(deployment, 'Normal', scalingReason, `Scaled ${direction} ${what}`)
  }
  return scaled
}

/** Gives the current replica set its revision and what it shares with the deployment. */
export async function updateCurrent(
  { client }: SetWriter,
  { deployment, old }: Rollout,
  set: KubeObject,
): Promise<KubeObject> {
  const annotations = currentAnnotations(deployment, set, newestRevision(old) + 1)
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0
  if (
    hasAll(set.metadata.annotations, annotations) &&
    (set.spec?.minReadySeconds ?? 0) === minReadySeconds
  )
    return set
  return client.update(replicaSets, {
    ...set,
    metadata: { ...set.metadata, annotations },
    spec: { ...set.spec, minReadySeconds },
  })
}

export const deleteSet = ({ client }: SetWriter, { metadata }: KubeObject): Promise<void> => {
  const { namespace = '', name = '', uid = '' } = metadata
  return unlessOvertaken(client.delete(replicaSets, namespace, name, { uid }))
}

const hasAll = (annotations: Loose = {}, wanted: Loose): boolean =>
  Object.entries(wanted).every(([key, value]) => annotations[key] === value)
