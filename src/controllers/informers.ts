/**
 * Creates one informer per resource for the first controller that needs it. All controllers share
 * it.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import { Informer, type Keep } from '#client/informer.ts'
import * as kept from './kept.ts'
import * as resources from './resources.ts'

export class Informers {
  readonly #client: ApiClient
  readonly #signal: AbortSignal
  readonly #report: (message: string, error: unknown) => void
  readonly #made = new Map<string, Informer<never>>()

  constructor(
    client: ApiClient,
    signal: AbortSignal,
    report: (message: string, error: unknown) => void,
  ) {
    this.#client = client
    this.#signal = signal
    this.#report = report
  }

  namespaces = () => this.#of(resources.namespaces, kept.keepNamespace)
  serviceAccounts = () => this.#of(resources.serviceAccounts, kept.keepAccount)
  secrets = () => this.#of(resources.secrets, kept.keepSecret)
  rootConfigMaps = () => this.#of(resources.configMaps, kept.keepRootConfigMap)
  clusterRoles = () => this.#of(resources.clusterRoles, kept.keepRole)
  pods = () => this.#of(resources.pods, kept.keepPod)
  nodes = () => this.#of(resources.nodes, kept.keepMeta)
  volumes = () => this.#of(resources.persistentVolumes, kept.keepVolume)
  claims = () => this.#of(resources.persistentVolumeClaims, kept.keepVolume)
  volumeAttributesClasses = () => this.#of(resources.volumeAttributesClasses, kept.keepMeta)
  ipAddresses = () => this.#of(resources.ipAddresses, kept.keepMeta)
  jobs = () => this.#of(resources.jobs, kept.keepJob)
  /** Every pod, for workloads. `pods` keeps few of them. */
  ownedPods = () => this.#of(resources.pods, kept.keepOwned, 'owned')
  replicaSets = () => this.#of(resources.replicaSets, kept.keepSelecting)
  replicationControllers = () => this.#of(resources.replicationControllers, kept.keepSelectingByMap)
  deployments = () => this.#of(resources.deployments, kept.keepSelecting)
  ownedJobs = () => this.#of(resources.jobs, kept.keepOwned, 'owned')
  cronJobs = () => this.#of(resources.cronJobs, kept.keepSelectingNothing)
  services = () => this.#of(resources.services, kept.keepSelectingByMap)
  endpoints = () => this.#of(resources.endpoints, kept.keepMeta)
  endpointSlices = () => this.#of(resources.endpointSlices, kept.keepOwned)
  zonedNodes = () => this.#of(resources.nodes, kept.keepZonedNode, 'zones')
  disruptionBudgets = (release: number) =>
    this.#of(resources.disruptionBudgets(release), kept.keepMeta)
  // The controllers need all other fields of these objects, of which there are few.
  quotas = () => this.#of(resources.resourceQuotas, withoutManagedFields)
  serviceCidrs = () => this.#of(resources.serviceCidrs, withoutManagedFields)
  storageMigrations = () => this.#of(resources.storageMigrations, withoutManagedFields)
  validatingPolicies = () => this.#of(resources.validatingPolicies, withoutManagedFields)
  certificateRequests = (release: number) =>
    this.#of(resources.certificateRequests(release), withoutManagedFields)

  /** `use` distinguishes informers of one resource that keep different parts. */
  #of<T>(resource: ResourceRef, keep: Keep<T>, use = ''): Informer<T> {
    const { group, plural } = resource
    const key = `${group}/${plural}/${use}`
    let informer = this.#made.get(key) as Informer<T> | undefined
    if (informer === undefined) {
      informer = new Informer<T>({
        client: this.#client,
        resource,
        keep,
        signal: this.#signal,
        report: this.#report,
      })
      this.#made.set(key, informer as Informer<never>)
      informer.start()
    }
    return informer
  }
}

/** managedFields are often more than half of an object. */
function withoutManagedFields(object: KubeObject): KubeObject & Loose {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
