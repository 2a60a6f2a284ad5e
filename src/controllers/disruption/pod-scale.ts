/** How many pods there should be: the scale of each controller of the existing pods, once. */
import type { KubeObject, Loose, OwnerReference } from '#api/object-meta.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import { nameOf } from '#client/reflector.ts'
import { OwnerKinds } from '#controllers/garbage-collector/owner-kinds.ts'
import { unlessMissing } from '#controllers/queue-for.ts'
import { deployments, replicaSets } from '#controllers/resources.ts'

interface Found {
  readonly uid: string
  readonly replicas: number
}

export class PodScale {
  readonly #client: ApiClient
  readonly #kinds: OwnerKinds

  constructor(client: ApiClient) {
    this.#client = client
    this.#kinds = new OwnerKinds(client)
  }

  /**
   * The expected number of pods. Pods without a controller are ignored. Throws if a controller does
   * not exist or has no scale.
   */
  async of(pods: readonly KubeObject[]): Promise<number> {
    const asked = new Set<string>()
    const scales = new Map<string, number>()
    for (const { metadata } of pods) {
      const owner = controllerOf(metadata)
      if (owner === undefined || asked.has(owner.uid)) continue
      asked.add(owner.uid)
      const namespace = metadata.namespace as string
      const found =
        (await this.#deploymentOf(owner, namespace)) ?? (await this.#scaleOf(owner, namespace))
      if (found === undefined) throw new Error(`found no controllers for pod "${metadata.name}"`)
      scales.set(found.uid, found.replicas)
    }
    return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0)
  }

  /** Several replica sets of one deployment are one controller. */
  async #deploymentOf(owner: OwnerReference, namespace: string): Promise<Found | undefined> {
    if (!isOf(owner, 'ReplicaSet')) return undefined
    const set = await this.#live(replicaSets, namespace, owner)
    const above = set && controllerOf(set.metadata)
    if (above === undefined || !isOf(above, 'Deployment')) return undefined
    const deployment = await this.#live(deployments, namespace, above)
    return deployment && { uid: above.uid, replicas: deployment.spec?.replicas ?? 1 }
  }

  async #scaleOf(owner: OwnerReference, namespace: string): Promise<Found | undefined> {
    const resource = await this.#resourceOf(owner)
    const scale = await unlessMissing(this.#client.get(resource, namespace, owner.name, 'scale'))
    if (scale !== undefined) {
      if (scale.metadata.uid !== owner.uid) return undefined
      return { uid: owner.uid, replicas: scale.spec?.replicas ?? 0 }
    }
    if ((await this.#live(resource, namespace, owner)) === undefined) return undefined
    throw new Error(`${nameOf(resource)} does not implement the scale subresource`)
  }

  async #resourceOf(owner: OwnerReference): Promise<ResourceRef> {
    const known = this.#kinds.of(owner)
    if (known !== undefined) return known
    await this.#kinds.refresh()
    const found = this.#kinds.of(owner)
    if (found !== undefined) return found
    throw new Error(`no matches for kind "${owner.kind}" in version "${owner.apiVersion}"`)
  }

  async #live(
    resource: ResourceRef,
    namespace: string,
    { name, uid }: OwnerReference,
  ): Promise<KubeObject | undefined> {
    const live = await unlessMissing(this.#client.get(resource, namespace, name))
    return live?.metadata.uid === uid ? live : undefined
  }
}

const controllerOf = ({ ownerReferences = [] }: KubeObject['metadata']) =>
  ownerReferences.find((owner: Loose) => owner.controller === true)

const isOf = ({ apiVersion, kind }: OwnerReference, wanted: string) =>
  kind === wanted && /^(apps|extensions)\//.test(apiVersion)
