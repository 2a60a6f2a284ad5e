/**
 * Ownership of pods and replica sets by a workload. It adopts orphans that match its selector, and
 * releases owned objects that no longer match.
 */
import { labelMatcher, type LabelSelector } from '#api/label-selector.ts'
import type { KubeObject, ObjectMeta, OwnerReference } from '#api/object-meta.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import { unlessMissing } from '#controllers/queue-for.ts'

export const controllerOf = ({ ownerReferences }: ObjectMeta): OwnerReference | undefined =>
  ownerReferences?.find(({ controller }) => controller === true)

/** A kind of owner: `{ apiVersion: 'apps/v1', kind: 'ReplicaSet', resource }`. */
export interface OwnerKind {
  readonly apiVersion: string
  readonly kind: string
  readonly resource: ResourceRef
}

export const controllerReference = (
  { apiVersion, kind }: OwnerKind,
  { metadata }: KubeObject,
): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name as string,
  uid: metadata.uid as string,
  controller: true,
  blockOwnerDeletion: true,
})

/** Whether an owner keeps, adopts or releases an object, or has nothing to do with it. Pure. */
export function claimOn(
  object: ObjectMeta,
  owner: ObjectMeta,
  matches: boolean,
): 'keep' | 'adopt' | 'release' | 'ignore' {
  const controller = controllerOf(object)
  const isOwnerLeaving = owner.deletionTimestamp !== undefined
  if (controller !== undefined) {
    if (controller.uid !== owner.uid) return 'ignore'
    if (matches) return 'keep'
    return isOwnerLeaving ? 'ignore' : 'release'
  }
  if (isOwnerLeaving || !matches) return 'ignore'
  return object.deletionTimestamp === undefined ? 'adopt' : 'ignore'
}

export interface ClaimOptions {
  readonly client: ApiClient
  readonly ownerKind: OwnerKind
  readonly owner: KubeObject
  readonly selector: LabelSelector
  /** The resource of the objects. */
  readonly resource: ResourceRef
}

/** The objects that the owner has after adoption and release, as stored. */
export async function claimObjects(
  objects: readonly KubeObject[],
  { client, ownerKind, owner, selector, resource }: ClaimOptions,
): Promise<KubeObject[]> {
  const matches = labelMatcher(selector)
  let canAdopt: Promise<boolean> | undefined
  const claimed = await Promise.all(
    objects.map(async (object): Promise<KubeObject | undefined> => {
      const { metadata } = object
      const claim = claimOn(metadata, owner.metadata, matches(metadata.labels))
      if (claim === 'keep') return object
      if (claim === 'ignore') return undefined
      const others = (metadata.ownerReferences ?? []).filter(
        ({ uid }) => uid !== owner.metadata.uid,
      )
      if (claim === 'release') {
        await changeOwners(client, resource, metadata, others)
        return undefined
      }
      canAdopt ??= isStillThere(client, ownerKind, owner)
      if (!(await canAdopt)) return undefined
      const owners = [...others, controllerReference(ownerKind, owner)]
      return changeOwners(client, resource, metadata, owners)
    }),
  )
  return claimed.filter((object) => object !== undefined)
}

/** The version protects owners that another client has written meanwhile. */
async function changeOwners(
  client: ApiClient,
  resource: ResourceRef,
  { namespace = '', name = '', uid, resourceVersion }: ObjectMeta,
  ownerReferences: readonly OwnerReference[],
): Promise<KubeObject | undefined> {
  const metadata = { uid, resourceVersion, ownerReferences }
  return unlessMissing(client.patch(resource, namespace, name, { metadata }))
}

/** An owner that is deleted adopts nothing, or the garbage collector would delete the orphans. */
async function isStillThere(
  client: ApiClient,
  { resource }: OwnerKind,
  { metadata }: KubeObject,
): Promise<boolean> {
  const { namespace = '', name = '', uid } = metadata
  const live = await unlessMissing(client.get(resource, namespace, name))
  return live?.metadata.uid === uid && live?.metadata.deletionTimestamp === undefined
}
