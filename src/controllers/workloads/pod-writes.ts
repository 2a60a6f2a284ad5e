/** Creates and deletes the pods of a workload, with an event for each. */
import type { KubeObject } from '#api/object-meta.ts'
import type { ApiClient } from '#client/client.ts'
import { isMissing, isTerminating } from '#controllers/queue-for.ts'
import { pods } from '#controllers/resources.ts'
import type { RecordEvent } from './event-recorder.ts'
import { controllerReference, type OwnerKind } from './ownership.ts'

export interface PodWriter {
  readonly client: ApiClient
  readonly ownerKind: OwnerKind
  readonly record: RecordEvent
}

/** The pod that a template describes. Pure. */
export function podFromTemplate(ownerKind: OwnerKind, owner: KubeObject): KubeObject {
  const { metadata = {}, spec } = owner.spec?.template ?? {}
  const { labels, annotations, finalizers } = metadata
  const { name = '', namespace } = owner.metadata
  return {
    metadata: {
      generateName: `${name}-`,
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [controllerReference(ownerKind, owner)],
    },
    spec,
  }
}

/** Does nothing in a namespace that is going away. */
export async function createPod(writer: PodWriter, owner: KubeObject): Promise<void> {
  const { client, ownerKind, record } = writer
  try {
    const pod = podFromTemplate(ownerKind, owner)
    const made = await client.create(pods, owner.metadata.namespace as string, pod)
    record(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${made.metadata.name}`)
  } catch (error) {
    if (isTerminating(error)) return
    record(owner, 'Warning', 'FailedCreate', `Error creating: ${(error as Error).message}`)
    throw error
  }
}

export async function deletePod(
  { client, record }: PodWriter,
  owner: KubeObject,
  { metadata }: KubeObject,
): Promise<void> {
  const { namespace = '', name = '' } = metadata
  try {
    await client.delete(pods, namespace, name)
    record(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`)
  } catch (error) {
    if (isMissing(error)) return
    const { message } = error as Error
    record(owner, 'Warning', 'FailedDelete', `Error deleting: ${message}`)
    throw new Error(`unable to delete pods: ${message}`)
  }
}

/**
 * Runs `act` a number of times, in batches of 1, 2, 4 and so on. The first failure ends it after
 * its batch, so that a full quota costs few requests.
 */
export async function slowStart(times: number, act: () => Promise<void>): Promise<void> {
  let left = times
  for (let size = 1; left > 0; size *= 2) {
    const batch = Math.min(size, left)
    const results = await Promise.allSettled(Array.from({ length: batch }, () => act()))
    for (const result of results) if (result.status === 'rejected') throw result.reason
    left -= batch
  }
}
