/**
 * Reports owner references across namespaces with an event. Such a reference is invalid: an owner
 * with a namespace must be in the namespace of its dependent. The graph has only owners with
 * relations, so an owner that is absent from the namespace is searched in the others by its name.
 */
import type { KubeObject, OwnerReference } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { ApiClient } from '#client/client.ts'
import type { ControllerParts } from '#controllers/controller.ts'
import { eventRecorder, type RecordEvent } from '#controllers/workloads/event-recorder.ts'
import type { Served } from './owner-kinds.ts'

const reportsForeignOwners = change(
  'the garbage collector reports owner references across namespaces with an event',
  { since: 20 },
)

/** As many reported references as are remembered. */
const reportedMax = 4096

export type ReportForeignOwner = (
  dependent: KubeObject,
  owner: OwnerReference,
  served: Served,
) => Promise<void>

export function foreignOwners(
  parts: Pick<ControllerParts, 'client' | 'clock' | 'signal' | 'release'>,
): ReportForeignOwner {
  if (!releaseOf(parts.release).has(reportsForeignOwners)) return async () => {}
  const recorders = new Map<string, RecordEvent>()
  const reported = new Set<string>()
  const recorderOf = ({ apiVersion = '', kind = '' }: KubeObject): RecordEvent => {
    const type = `${apiVersion} ${kind}`
    const known =
      recorders.get(type) ??
      eventRecorder('garbage-collector-controller', { apiVersion, kind }, parts)
    recorders.set(type, known)
    return known
  }
  return async (dependent, owner, served) => {
    const { uid = '', namespace = '', name } = dependent.metadata
    const key = `${uid} ${owner.uid}`
    if (reported.has(key) || !(await existsElsewhere(parts.client, owner, served))) return
    if (reported.size >= reportedMax) reported.clear()
    reported.add(key)
    const { apiVersion, kind } = owner
    const identity = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`
    recorderOf(dependent)(
      { metadata: { uid, namespace, name } },
      'Warning',
      'OwnerRefInvalidNamespace',
      `ownerRef ${identity} does not exist in namespace ${JSON.stringify(namespace)}`,
    )
  }
}

/** A failed search is ignored: events are hints. */
async function existsElsewhere(
  client: ApiClient,
  { name, uid }: OwnerReference,
  served: Served,
): Promise<boolean> {
  try {
    const { items } = await client.list(served, '', { fieldSelector: `metadata.name=${name}` })
    return items.some(({ metadata }) => metadata.uid === uid)
  } catch {
    return false
  }
}
