/** Creates the parts that verbs use from the foundation: access, admission and allocators. */
import { qualified } from '#api/status-error.ts'
import type { TokenSecret } from '#access/authenticate/account-lookup.ts'
import { type Access, makeAccess } from '#access/make-access.ts'
import { AdmissionChain } from '#admission/chain.ts'
import { pluginsInOrder } from '#admission/plugin-registry.ts'
import { groupOf, versionOf } from '#api/api-version.ts'
import type { Clock } from '#base/clock.ts'
import { loadLater } from '#base/load-later.ts'
import type { KnownTypes } from '#kinds/known-type.ts'
import { type AddressApi, addressApi, forServices } from '#verbs/allocate.ts'
import { localClient } from '#verbs/local-client.ts'
import type { Server } from '#verbs/server.ts'
import { externalAddress } from './addresses.ts'
import { orThrowCannotStart } from './cannot-start.ts'
import type { Settings } from '#settings/flags.ts'
import type { Foundation } from './foundation.ts'
import { apiserverUser } from './certificates.ts'
import type { Observing } from './observing.ts'
import { suffixes } from './random-suffix.ts'

const loadAllocators = loadLater<typeof import('#verbs/allocation/service-allocator.ts')>(
  import.meta.url,
  '#verbs/allocation/service-allocator',
)

const loadDroppedLog = loadLater<typeof import('./dropped-fields-log.ts')>(
  import.meta.url,
  './dropped-fields-log',
)

function fieldsDroppedOnce(foundation: Foundation): NonNullable<Server['fieldsDropped']> {
  let report: Server['fieldsDropped']
  return (kind, paths) => (report ??= loadDroppedLog().droppedFieldsLog(foundation))(kind, paths)
}

const namespaces = { group: '', version: 'v1', plural: 'namespaces' }
const secrets = { group: '', version: 'v1', plural: 'secrets' }
const resourceQuotas = { group: '', version: 'v1', plural: 'resourcequotas' }

export interface MadeServer {
  readonly server: Server
  readonly access: Access
}

export async function makeServer(
  foundation: Foundation,
  observing: Observing,
): Promise<MadeServer> {
  const { settings, release, feature, catalog, cache, storage, reader, parseStored } = foundation
  const { clock, random } = foundation
  const access = await accessOf(foundation, observing, () => server)
  const plugins = await pluginsOf(foundation, access, observing, () => server)
  const addresses = addressApi(feature, catalog)
  const server: Server = {
    access,
    catalog,
    storage,
    cache,
    reader,
    admission: new AdmissionChain(plugins, reader, observing.admission),
    allocators: forServices(
      () =>
        loadAllocators().serviceAllocators(
          {
            addressBlocks: settings.serviceClusterIpRange,
            nodePorts: settings.serviceNodePortRange,
          },
          reader,
          random.number,
          settings.storageBackend === 'etcd3'
            ? { ...sharedStore(foundation), onlyPorts: addresses !== undefined }
            : undefined,
          addresses && addressWriter(addresses, clock, () => server),
        ),
      addresses !== undefined,
    ),
    clock,
    release,
    feature,
    parseStored,
    ...typesOf(foundation),
    newUid: random.uuid,
    randomSuffix: suffixes(random),
    storesProtobuf: settings.storageMediaType === 'application/vnd.kubernetes.protobuf',
    readsFromMemory: remembering(settings),
    allowPrivileged: settings.allowPrivileged,
    statusWritten: observing.statusWritten,
    timed: observing.timed,
    fieldsDropped: fieldsDroppedOnce(foundation),
    eventTtlSeconds: settings.eventTtlMs / 1000,
    leavesGarbage: !settings.enableGarbageCollector,
    ...(settings.deleteCollectionWorkers !== undefined && {
      deletionsAtOnce: Math.max(settings.deleteCollectionWorkers, 1),
    }),
  }
  return { server, access }
}

/** --watch-cache-sizes can disable the watch cache for a resource with 0. */
function remembering({ watchCache, watchCacheSizes }: Settings): Server['readsFromMemory'] {
  if (!watchCache || watchCacheSizes.size === 0) return () => watchCache
  return ({ group, plural }) => watchCacheSizes.get(qualified(plural, group)) !== 0
}

function typesOf({ facts, release }: Foundation): KnownTypes {
  return {
    isVersion(apiVersion) {
      return facts.kindsOf(groupOf(apiVersion), versionOf(apiVersion), release).size > 0
    },
    typeNamed(apiVersion, kind) {
      const name = facts.kindsOf(groupOf(apiVersion), versionOf(apiVersion), release).get(kind)
      return name === undefined ? undefined : facts.typeOf(name, release)
    },
  }
}

/** The store in which all servers of the cluster allocate IP addresses and ports of services. */
function sharedStore({ settings, storage, facts, release }: Foundation) {
  return {
    storage,
    root: settings.etcdPrefix,
    type: facts.typeOf('io.k8s.api.core.v1.RangeAllocation', release),
    writesProtobuf: settings.storageMediaType === 'application/vnd.kubernetes.protobuf',
  }
}

function accessOf(
  { settings, release, feature, certificates, tokenKeys, log, reader, clock }: Foundation,
  { conditions: conditionMeter, reloaded, tokenUsed }: Observing,
  server: () => Server,
): Promise<Access> {
  const surroundings = {
    release,
    externalAddress: externalAddress(settings),
    ownClientAuthorities: [certificates.ca.certificatePem],
    feature,
    conditionMeter,
    reloaded,
    tokenUses: {
      count: tokenUsed,
      async label({ namespace, name, uid }: TokenSecret, labels: Record<string, string>) {
        const itself = localClient(server(), apiserverUser, 'kube-apiserver')
        await itself.patch(secrets, namespace, name, { metadata: { uid, labels } })
      },
    },
    ownTokenKeys: tokenKeys,
    servingKey: certificates.serving.keyPem,
    report: (message: string) => log.warn(message),
  }
  return orThrowCannotStart(makeAccess(settings, surroundings, reader, clock))
}

/** Writes of IPAddress objects are internal requests of the server, and go through admission. */
const addressWriter = ({ ipAddresses }: AddressApi, clock: Clock, server: () => Server) => ({
  client: localClient(server(), apiserverUser, 'kube-apiserver'),
  resource: ipAddresses,
  nowMs: () => clock.now(),
})

/** Plugins write as the server itself, and only after it has started. */
function pluginsOf(
  foundation: Foundation,
  access: Access,
  observing: Observing,
  server: () => Server,
) {
  const { settings, release, feature, catalog, log, loopback, clock, random } = foundation
  if (settings.admissionControl !== undefined)
    log.warn('--admission-control is deprecated: --enable-admission-plugins replaces it')
  const itself = () => localClient(server(), apiserverUser, 'kube-apiserver')
  const plugins = pluginsInOrder({
    release,
    randomSuffix: () => server().randomSuffix(),
    feature,
    authorizer: access.authorizer,
    rbac: access.rbac,
    now: () => clock.now(),
    kindNamed: (apiVersion, kind) => catalog.byKind(apiVersion, kind),
    types: typesOf(foundation),
    createNamespace: (namespace) => itself().create(namespaces, '', namespace),
    updateQuotaStatus: (quota) => itself().update(resourceQuotas, quota, 'status'),
    newUid: random.uuid,
    loopback,
    observeWebhook: (call) => observing.admission.webhook(call),
    policyMeter: observing.policies,
    report: (message) => log.warn(message),
    notReadyTolerationSeconds: settings.defaultNotReadyTolerationSeconds,
    unreachableTolerationSeconds: settings.defaultUnreachableTolerationSeconds,
    enable: settings.enableAdmissionPlugins,
    disable: settings.disableAdmissionPlugins,
    only: settings.admissionControl,
    configurationFile: settings.admissionControlConfigFile,
  })
  return orThrowCannotStart(plugins)
}
