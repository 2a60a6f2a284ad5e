/**
 * Field ownership through the scale subresource: the manager of the object's replicas owns
 * spec.replicas of its Scale, and vice versa. Other fields belong only to the main object.
 */
import type { ManagedFieldsEntry } from '#api/object-meta.ts'
import { difference, type FieldSet, hasPath, isEmptySet, setOfPaths } from './field-set.ts'
import { decodeManaged, encodeManaged, type Managed, nobody } from './managed-fields.ts'

/**
 * The path to the replicas by version of the main object; empty if that version has no scale.
 * Managers with a version that is missing here are ignored.
 */
export type ReplicasPaths = ReadonlyMap<string, readonly string[]>

const scaleVersion = 'autoscaling/v1'
const replicasInScale = ['f:spec', 'f:replicas']

export function ownersOfScale(
  parent: ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
): ManagedFieldsEntry[] {
  const { owned, times } = decodeManaged(parent)
  const scale = nobody()
  for (const [manager, { set, apiVersion, applied }] of owned) {
    const path = paths.get(apiVersion)
    if (path === undefined || path.length === 0 || !hasPath(set, path)) continue
    scale.owned.set(manager, {
      set: setOfPaths([replicasInScale]),
      apiVersion: scaleVersion,
      applied,
    })
    scale.times.set(manager, times.get(manager))
  }
  return encodeManaged(scale)
}

/** The managers of the main object after a write to its Scale in a request of `apiVersion`. */
export function ownersFromScale(
  parent: ManagedFieldsEntry[] | undefined,
  scale: ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
  apiVersion: string,
): ManagedFieldsEntry[] {
  const before = decodeManaged(parent)
  const scaled = decodeManaged(scale)
  const after: Managed = nobody()
  for (const [manager, owned] of before.owned) {
    const path = paths.get(owned.apiVersion)
    if (path === undefined) continue
    let set: FieldSet = owned.set
    if (path.length > 0 && hasPath(set, path)) {
      if (scaled.owned.delete(manager) === false) set = difference(set, setOfPaths([path]))
    }
    if (isEmptySet(set)) continue
    after.owned.set(manager, { ...owned, set })
    after.times.set(manager, before.times.get(manager))
  }
  const path = paths.get(apiVersion) ?? []
  for (const [manager, { set, applied }] of scaled.owned) {
    if (!hasPath(set, replicasInScale)) continue
    after.owned.set(manager, { set: setOfPaths([path]), apiVersion, applied })
    after.times.set(manager, before.times.get(manager))
  }
  return encodeManaged(after)
}
