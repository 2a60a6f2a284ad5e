/**
 * Objects that every cluster has: the system namespaces, the system priority classes, and the
 * `kubernetes` service. The server creates each missing object with an ordinary create.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { PolicyWriter } from '#access/authorize/reconcile.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import type { ApiClient, ResourceRef } from '#client/client.ts'
import { equalValues } from '#patch/json-map.ts'
import type { DefaultCidr } from './default-service-cidr.ts'

const loadDefaultCidr = loadLater<typeof import('./default-service-cidr.ts')>(
  import.meta.url,
  './default-service-cidr',
)

const core = (plural: string): ResourceRef => ({ group: '', version: 'v1', plural })
const priorityClasses = { group: 'scheduling.k8s.io', version: 'v1', plural: 'priorityclasses' }
const endpointSlices = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices' }
const keepsOwnSlice = change('the service kubernetes has an EndpointSlice', { since: 21 })

export interface ServerPlace {
  readonly release: number
  /** The address and port at which other machines reach this server. */
  readonly address: string
  readonly port: number
  /** The addresses of all servers that share the store, including this one. */
  readonly alive: () => Promise<readonly string[]>
  /** The address of the `kubernetes` service, and its node port (0: none). */
  readonly serviceAddress: string
  readonly nodePort: number
  /**
   * The default ServiceCIDR. Undefined in releases that do not allocate addresses from
   * ServiceCIDRs.
   */
  readonly defaultCidr?: DefaultCidr | undefined
  readonly report: (message: string, error: unknown) => void
}

const isMissing = (error: unknown) => error instanceof ApiError && error.code === 404
/** --runtime-config can disable any group. */
const isNotServed = (error: unknown) =>
  isMissing(error) &&
  (error as ApiError).message === 'the server could not find the requested resource'
const isInvalid = (error: unknown) => error instanceof ApiError && error.code === 422
const isThere = (error: unknown) => error instanceof ApiError && error.reason === 'AlreadyExists'

/** Treats such a failure as "the object does not exist". */
const nothingIf = (isSuch: (error: unknown) => boolean) => (error: unknown) => {
  if (!isSuch(error)) throw error
  return {}
}

/** Reads before creating: an existing object may use the address that a create would request. */
async function ensure(
  client: ApiClient,
  ref: ResourceRef,
  namespace: string,
  object: Made,
): Promise<void> {
  try {
    await client.get(ref, namespace, object.metadata.name)
  } catch (error) {
    if (!isMissing(error)) throw error
    await client.create(ref, namespace, object as KubeObject).catch((lost) => {
      if (!isThere(lost) && !isNotServed(lost)) throw lost
    })
  }
}

type Made = { metadata: { name: string; namespace?: string; labels?: object } } & Record<
  string,
  unknown
>

/** kube-apiserver uses the same interval. */
const lookedAfterEveryMs = 10_000

/**
 * A client may delete them, as `kubectl delete all --all` does, so the server creates them again.
 */
export function maintainSystemObjects(
  client: ApiClient,
  place: ServerPlace,
  everyMs = lookedAfterEveryMs,
): { stop(): void } {
  const look = () =>
    ensureSystemObjects(client, place).catch((error) =>
      place.report(
        'the objects of every cluster could not be restored; the server tries again',
        error,
      ),
    )
  const timer = setInterval(look, everyMs).unref()
  return { stop: () => clearInterval(timer) }
}

export async function ensureSystemObjects(client: ApiClient, place: ServerPlace): Promise<void> {
  const names = ['default', 'kube-system', 'kube-public', 'kube-node-lease']
  await Promise.all([
    place.defaultCidr && loadDefaultCidr().ensureDefaultCidr(client, place.defaultCidr),
    ...names.map((name) => ensure(client, core('namespaces'), '', { metadata: { name } })),
    ...priorityClassObjects.map((object) => ensure(client, priorityClasses, '', object)),
  ])
  await ensureKubernetesService(client, place)
  const alive = await place.alive()
  // Keep the endpoints if no server is registered as alive.
  if (alive.length > 0) await writeKubernetesEndpoints(client, place, alive)
}

const priorityClassObjects = [
  {
    metadata: { name: 'system-node-critical' },
    value: 2_000_001_000,
    description: 'For pods that must not be moved from their node.',
  },
  {
    metadata: { name: 'system-cluster-critical' },
    value: 2_000_000_000,
    description: 'For pods the cluster needs, on whichever node.',
  },
]

/**
 * The service's address may be in use. Another server may be creating the service at this moment,
 * or a server that crashed left the address allocated. That does not fail the start: the other
 * server creates the service, or the repair loop frees the address.
 */
async function ensureKubernetesService(client: ApiClient, place: ServerPlace): Promise<void> {
  const labels = { component: 'apiserver', provider: 'kubernetes' }
  const { nodePort, port: targetPort } = place
  const https = { name: 'https', port: 443, protocol: 'TCP', targetPort }
  const type = nodePort === 0 ? 'ClusterIP' : 'NodePort'
  const ports = [nodePort === 0 ? https : { ...https, nodePort }]
  await ensure(client, core('services'), 'default', {
    metadata: { name: 'kubernetes', labels },
    spec: { clusterIP: place.serviceAddress, ipFamilyPolicy: 'SingleStack', ports, type },
  }).catch((error) => {
    if (!isInvalid(error)) throw error
    place.report('the service kubernetes could not be made', error)
  })
}

/** Writes the endpoints of the `kubernetes` service. */
export async function writeKubernetesEndpoints(
  client: ApiClient,
  place: Pick<ServerPlace, 'address' | 'port' | 'release'>,
  alive: readonly string[],
): Promise<void> {
  if (isLoopback(place.address)) return
  const port = { name: 'https', port: place.port, protocol: 'TCP' }
  const mirror = { 'endpointslice.kubernetes.io/skip-mirror': 'true' }
  await writeOver(client, core('endpoints'), {
    metadata: { name: 'kubernetes', namespace: 'default', labels: mirror },
    subsets: alive.length === 0 ? [] : [{ addresses: alive.map((ip) => ({ ip })), ports: [port] }],
  })
  if (!releaseOf(place.release).has(keepsOwnSlice)) return
  await writeOver(client, endpointSlices, {
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { 'kubernetes.io/service-name': 'kubernetes' },
    },
    addressType: place.address.includes(':') ? 'IPv6' : 'IPv4',
    endpoints: alive.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [port],
  })
}

/**
 * Endpoints must be reachable from other machines. A server that only this machine can reach has
 * none.
 */
export const isLoopback = (address: string): boolean => /^(127\.|::1$)/.test(address)

/**
 * The addresses of the `kubernetes` service in the form of both objects (Endpoints and
 * EndpointSlice), and the port.
 */
export async function kubernetesEndpoints(
  client: ApiClient,
  release: number,
): Promise<{ addressLists: string[][]; port: number | undefined }> {
  const of = (ref: ResourceRef): Promise<Loose> =>
    client.get(ref, 'default', 'kubernetes').catch(nothingIf(isMissing))
  const { subsets } = await of(core('endpoints'))
  const addressLists = [((subsets?.[0]?.addresses ?? []) as Loose[]).map(({ ip }) => ip as string)]
  if (releaseOf(release).has(keepsOwnSlice)) {
    const { endpoints } = await of(endpointSlices)
    addressLists.push(
      ((endpoints ?? []) as Loose[]).flatMap(({ addresses }) => addresses as string[]),
    )
  }
  return { addressLists, port: subsets?.[0]?.ports?.[0]?.port }
}

/**
 * The address and its family may have changed since the last start. Writes nothing if they did not.
 */
async function writeOver(client: ApiClient, ref: ResourceRef, object: Made): Promise<void> {
  await ensure(client, ref, 'default', object)
  const { name } = object.metadata
  const there: Loose = await client.get(ref, 'default', name).catch(nothingIf(isNotServed))
  if (there.metadata === undefined) return
  // The addressType of an EndpointSlice is immutable, so recreate the slice.
  if (there.addressType !== object.addressType) {
    await client.delete(ref, 'default', name)
    return ensure(client, ref, 'default', object)
  }
  const { metadata, ...rest } = object
  const isSame =
    equalValues(there.metadata.labels as Json, metadata.labels as Json) &&
    Object.entries(rest).every(([part, value]) => equalValues(there[part], value as Json))
  if (!isSame) await client.update(ref, object as unknown as KubeObject)
}

/** Writes the roles and bindings of the release by ordinary API requests. */
export function policyWriter(client: ApiClient): PolicyWriter {
  const ref = (plural: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', plural })
  return {
    ensureNamespace: (name) => ensure(client, core('namespaces'), '', { metadata: { name } }),
    async create(plural, object) {
      await client.create(ref(plural), object.metadata.namespace ?? '', object)
    },
    async update(plural, object) {
      await client.update(ref(plural), object)
    },
    delete: (plural, { metadata }) =>
      client.delete(ref(plural), metadata.namespace ?? '', metadata.name ?? ''),
  }
}
