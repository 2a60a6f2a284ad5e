/**
 * Prepares the server for its first request: starts custom resource definitions, RBAC roles, system
 * objects and registered API services.
 */
import { reconcileBootstrapPolicy } from '#access/authorize/reconcile.ts'
import { releaseOf } from '#api/releases/change.ts'
import { loadLater } from '#base/load-later.ts'
import type { ApiClient } from '#client/client.ts'
import { addressApi } from '#verbs/allocate.ts'
import { localClient } from '#verbs/local-client.ts'
import { advertisedAddress, firstServiceAddress, hostAndPort, networkOf } from './addresses.ts'
import { apiserverUser, thisMachine } from './certificates.ts'
import { followDefinitions } from './custom-kinds.ts'
import type { Foundation } from './foundation.ts'
import type { RequestHandling } from './make-http.ts'
import type { Membership } from './membership.ts'
import {
  ensureSystemObjects,
  maintainSystemObjects,
  policyWriter,
  type ServerPlace,
} from './system-objects.ts'

const loadRepair = loadLater<typeof import('./service-repair.ts')>(
  import.meta.url,
  './service-repair',
)
const loadIdentity = loadLater<typeof import('./identity-lease.ts')>(
  import.meta.url,
  './identity-lease',
)
const loadTracking = loadLater<typeof import('./token-tracking.ts')>(
  import.meta.url,
  './token-tracking',
)
const loadMembership = loadLater<typeof import('./membership.ts')>(import.meta.url, './membership')

/** Only etcd can be shared by several servers. With any other store the result is undefined. */
export function membershipOf(foundation: Foundation): Membership | undefined {
  const { settings, storage, parseStored, release, log } = foundation
  if (settings.storageBackend !== 'etcd3') return undefined
  const { Membership } = loadMembership()
  return new Membership({
    storage,
    parse: parseStored,
    root: settings.etcdPrefix,
    address: advertisedAddress(settings, thisMachine()),
    port: settings.securePort,
    release,
    reconciler: settings.endpointReconcilerType,
    count: settings.apiserverCount,
    report: (message, error) => log.warn(message, { error }),
  })
}

export interface Ready {
  stop(): void
}

export async function makeReady(
  { foundation, server, access, observing, health, others }: RequestHandling,
  membership: Membership | undefined,
): Promise<Ready> {
  const { settings, release, facts, catalog, reader, certificates, report, clock } = foundation
  const client = localClient(server, apiserverUser, 'kube-apiserver')
  const definitions = followDefinitions(foundation, server, client, observing.schemaPublished)
  await definitions.start()
  health.done('definitions')
  // --runtime-config can switch off every group, rbac.authorization.k8s.io included.
  const hasRoles = catalog.find('rbac.authorization.k8s.io', 'v1', 'clusterroles') !== undefined
  const roles = hasRoles && reconcileBootstrapPolicy(release, reader, policyWriter(client))
  const ownAuthority = certificates.ca.certificatePem
  const address = advertisedAddress(settings, thisMachine())
  const own = settings.endpointReconcilerType === 'none' ? [] : [address]
  const addresses = addressApi(server.feature, catalog)
  const place: ServerPlace = {
    release,
    address,
    port: settings.securePort,
    alive: async () => membership?.alive() ?? own,
    serviceAddress: firstServiceAddress(settings.serviceClusterIpRange[0]),
    nodePort: settings.kubernetesServiceNodePort,
    defaultCidr: addresses && {
      resource: addresses.serviceCidrs,
      blocks: settings.serviceClusterIpRange.map(networkOf),
      nowMs: () => clock.now(),
    },
    report,
  }
  // These steps are independent, so they run concurrently.
  const [announced] = await Promise.all([
    ensureSystemObjects(client, place).then(() => announce(foundation, client, address)),
    Promise.all([access.follow(), server.admission.start(), roles]).then(() =>
      health.done('roles'),
    ),
    others.start({ client, facts, catalog, release, clock, ownAuthority, report }),
    observing.start(server, (manager) => localClient(server, apiserverUser, manager)),
  ])
  membership?.start(client, server.allocators)
  // With several servers, the membership repairs service allocations.
  const isRepaired = addresses !== undefined && membership === undefined
  const repair = isRepaired ? loadRepair().repairLater(server.allocators, report) : undefined
  // With several servers, the membership writes the endpoints of the kubernetes service.
  const withoutEndpoints = { ...place, alive: async () => [] }
  const objects = maintainSystemObjects(client, membership === undefined ? place : withoutEndpoints)
  health.done('objects')
  health.done('server')
  return {
    stop() {
      repair?.stop()
      objects.stop()
      announced.stop()
      definitions.stop()
      others.stop()
      access.stop()
    },
  }
}

/** Objects by which others know of this server, and since when it tracks legacy tokens. */
async function announce(
  { settings, release, feature, random, clock, report }: Foundation,
  client: ApiClient,
  address: string,
): Promise<{ stop(): void }> {
  if (feature('LegacyServiceAccountTokenTracking'))
    await loadTracking()
      .trackTokens(client, clock.now())
      .catch((error) => report('the tracking of legacy tokens could not begin', error))
  if (!feature('APIServerIdentity')) return { stop() {} }
  const passesToPeers = feature('UnknownVersionInteroperabilityProxy')
  const lease = new (loadIdentity().IdentityLease)({
    client,
    release: releaseOf(release),
    hostname: thisMachine().hostname,
    peerAddress: passesToPeers ? hostAndPort(address, settings.securePort) : undefined,
    isAlone: settings.storageBackend !== 'etcd3',
    newUid: random.uuid,
    nowMs: () => clock.now(),
    report,
  })
  await lease.start()
  return lease
}
