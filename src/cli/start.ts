/** From settings to a running server: opens the store, builds the parts in their order, listens, and knows how to stop. */
import { randomBytes, randomUUID } from 'node:crypto'
import { makeAccess } from '#access/make-access.ts'
import { reconcileBootstrapPolicy } from '#access/authorize/reconcile.ts'
import { AdmissionChain } from '#admission/chain.ts'
import { pluginsInOrder } from '#admission/order.ts'
import { conversionWebhooks } from '#admission/webhook/conversion.ts'
import { systemClock } from '#base/clock.ts'
import { selectControllers } from '#controllers/names.ts'
import { priorities } from '#discovery/group-order.ts'
import { OpenApiPublisher } from '#discovery/openapi/publisher.ts'
import type { JsonObject } from '#discovery/openapi/source.ts'
import { versionInfo } from '#discovery/version.ts'
import { createListener } from '#http/listener.ts'
import type { HttpParts } from '#http/parts.ts'
import { discoveryPaths } from '#http/paths/discovery.ts'
import { healthPaths } from '#http/paths/health.ts'
import { knownPaths } from '#http/paths/known-paths.ts'
import { openApiPaths } from '#http/paths/openapi.ts'
import { versionPath } from '#http/paths/version.ts'
import { leavesHttp } from '#http/connect/connect.ts'
import { serve } from '#http/serve.ts'
import { builtInResources } from '#kinds/built-in.ts'
import { Catalog } from '#kinds/catalog.ts'
import { customResource, publishedSchema } from '#kinds/custom.ts'
import { loadFacts } from '#kinds/facts.ts'
import { featureGates } from '#kinds/feature-gates.ts'
import { runtimeConfig } from '#kinds/runtime-config.ts'
import { storedParser } from '#kinds/stored-form.ts'
import { createLog } from '#observe/log.ts'
import { serviceAllocators } from '#verbs/allocation/service-allocator.ts'
import { Definitions } from '#verbs/custom-resources/definitions.ts'
import { localClient } from '#verbs/local-client.ts'
import { objectReader } from '#verbs/reader.ts'
import type { Server } from '#verbs/server.ts'
import { WatchCache } from '#watchcache/watch-cache.ts'
import { advertisedAddress, firstServiceAddress, localUrl } from './addresses.ts'
import { ensureCertificates, thisMachine } from './certificates.ts'
import { compactRegularly } from './compaction.ts'
import { startControllers } from './controllers.ts'
import { readFactsFile } from './facts-reader.ts'
import { ServerHealth } from './health-checks.ts'
import type { Parsed } from './flags.ts'
import { ensureSystemObjects, policyWriter } from './system-objects.ts'
import { writeKubeconfig } from './kubeconfig.ts'
import { readyLines, stateText } from './ready-lines.ts'
import { aggregated, connectParts } from './remote-servers.ts'
import { stopOnSignal } from './stop.ts'
import { makeObserving } from './observing.ts'
import { openStorage } from './storage.ts'

/** What the operator asked for cannot be; the message says what and what is accepted. */
export class CannotStart extends Error {}

/** Who the server is to itself. */
const apiserverUser = { name: 'system:apiserver', uid: '', groups: ['system:masters'], extra: {} }

const namespaceResource = { group: '', version: 'v1', plural: 'namespaces' }
const quotaResource = { group: '', version: 'v1', plural: 'resourcequotas' }

/** Letters that make no words, as generated names have them. */
const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789'

/** Chance by the page: asking for five bytes at a time costs as much as asking for a page. */
let chance = Buffer.alloc(0)

function randomSuffix(): string {
  if (chance.length < 5) chance = randomBytes(4096)
  let text = ''
  for (const byte of chance.subarray(0, 5)) text += suffixLetters[byte % suffixLetters.length]
  chance = chance.subarray(5)
  return text
}

export async function start({ settings }: Parsed): Promise<void> {
  const log = createLog(settings.v, (line) => process.stderr.write(line), Date.now)
  const release = Number(settings.emulatedVersion.split('.')[1])
  const certificates = ensureCertificates(settings, systemClock)
  const storage = await openStorage(settings)
  const facts = loadFacts(readFactsFile)
  const gates = featureGates(JSON.parse(readFactsFile('features.json')), release, settings.featureGates)
  if ('error' in gates) throw new CannotStart(gates.error)
  for (const warning of gates.warnings) log.warn(warning)
  const feature = gates.enabled
  const observing = await makeObserving(settings, { release, version: facts.versionOf(release), feature, log, parseStored: () => parseStored })
  if ('problem' in observing) throw new CannotStart(observing.problem)
  const serves = runtimeConfig(
    settings.runtimeConfig,
    facts.groupVersionsOf(release),
    facts.resourcesOf(release),
  )
  if (typeof serves === 'object') throw new CannotStart(serves.error)
  const controllerNames = selectControllers(settings.controllers, release)
  if ('error' in controllerNames) throw new CannotStart(controllerNames.error)
  const catalog = new Catalog([])
  const root = settings.etcdPrefix
  const resources = builtInResources(facts, { release, feature, root, serves })
  for (const resource of resources) catalog.add(resource)
  const parseStored = storedParser(catalog)
  const cache = new WatchCache(
    {
      storage,
      parse: parseStored,
      clock: systemClock,
      root,
      limits: { eventsMax: Math.max(10_000, settings.defaultWatchCacheSize), ageMsMax: 300_000 },
      report: (message, error) => log.error(message, { error }),
    },
    await storage.currentRevision(),
  )
  cache.start()
  const compaction = compactRegularly(storage, settings.etcdCompactionIntervalMs, (message, error) =>
    log.warn(message, { error }),
  )
  const reader = objectReader({ catalog, cache, storage, parseStored })
  const access = await makeAccess(
    settings,
    {
      release,
      externalAddress: new URL(localUrl(settings)).host,
      ownClientAuthorities: [certificates.ca.certificatePem],
      tlsPrivateKey: certificates.serving.keyPem,
      report: (message) => log.warn(message),
    },
    reader,
    systemClock,
  )
  /** Plugins write as the server itself does; nobody asks them to before it is there. */
  const itself = () => localClient(server, apiserverUser, 'kube-apiserver')
  const plugins = await pluginsInOrder({
    release,
    randomSuffix,
    feature,
    authorizer: access.authorizer,
    rbac: access.rbac,
    now: () => systemClock.now(),
    kindNamed: (apiVersion, kind) => catalog.byKind(apiVersion, kind),
    createNamespace: (namespace) => itself().create(namespaceResource, '', namespace),
    updateQuotaStatus: (quota) => itself().update(quotaResource, quota, 'status'),
    newUid: randomUUID,
    observeWebhook: () => {},
    report: (message) => log.warn(message),
    enable: settings.enableAdmissionPlugins,
    disable: settings.disableAdmissionPlugins,
    configurationFile: settings.admissionControlConfigFile,
  }).catch((error: Error) => {
    throw new CannotStart(error.message)
  })
  const server: Server = {
    access,
    catalog,
    storage,
    cache,
    reader,
    admission: new AdmissionChain(plugins, reader, observing.admission),
    allocators: serviceAllocators(
      { addressBlocks: settings.serviceClusterIpRange, nodePorts: settings.serviceNodePortRange },
      reader,
      Math.random,
    ),
    clock: systemClock,
    release,
    feature,
    parseStored,
    typeNamed(apiVersion, kind) {
      const [version, group = ''] = apiVersion.split('/').reverse()
      const name = facts.openApiNameOf(group, version, kind)
      return name === undefined ? undefined : facts.typeOf(name, release)
    },
    newUid: randomUUID,
    randomSuffix,
    allowPrivileged: settings.allowPrivileged,
    eventTtlSeconds: settings.eventTtlMs / 1000,
  }
  const stopping = new AbortController()
  const health = new ServerHealth({
    storeTrouble: () => storage.trouble(),
    livezGraceMs: settings.livezGracePeriodMs,
    monotonicMs: () => performance.now(),
  })
  const around = {
    access,
    stopping: stopping.signal,
    userAgent: `kube-apiserver/${facts.versionOf(release)}`,
  }
  const others = aggregated(settings, server, around)
  const priorityOf = priorities(facts, release, (group, version) => others.aggregation.priorityOf(group, version))
  const parts: HttpParts = {
    server,
    connect: connectParts(settings, server, around),
    aggregation: others.aggregation,
    authenticate: access.authenticate,
    challenge: access.challenge,
    authorizer: access.authorizer,
    paths: [
      healthPaths(health, (problem) => log.warn(problem)),
      versionPath(
        versionInfo({
          version: facts.versionOf(release),
          gitCommit: '',
          gitTreeState: 'clean',
          buildDate: '1970-01-01T00:00:00Z',
          runtime: `node${process.versions.node}`,
          platform: `${process.platform}/${process.arch}`,
        }),
      ),
      discoveryPaths({
        catalog,
        release,
        priorityOf,
        serverAddress: new URL(localUrl(settings)).host,
        typeOf: (kind) => facts.typeOf(`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`, release),
        aggregated: others.aggregation,
      }),
      openApiPaths(
        others.documents.over(new OpenApiPublisher({
          facts,
          release,
          priorityOf,
          applies: feature('ServerSideApply'),
          schemaOf: (kind) => publishedSchema(kind) as JsonObject | undefined,
          catalog,
        })),
        release,
      ),
      ...observing.paths,
      knownPaths({ catalog, checks: health, others: ['/metrics', '/openapi/v2', '/version'] }),
    ],
    limits: {
      requestTimeoutMs: settings.requestTimeoutMs,
      minRequestTimeoutSeconds: settings.minRequestTimeoutSeconds,
      requestsInFlightMax: settings.maxRequestsInflight,
      mutatingRequestsInFlightMax: settings.maxMutatingRequestsInflight,
      bodyBytesMax: 3 * 1024 * 1024,
    },
    observers: observing.observers,
    instruments: observing.instruments,
    report: (message, error) => log.error(message, { error }),
    monotonicMs: () => performance.now(),
    newAuditId: randomUUID,
    stopping: stopping.signal,
  }
  const listener = createListener({
    cert: certificates.serving.certificatePem,
    key: certificates.serving.keyPem,
    clientAuthorities: Buffer.from(access.clientAuthorities.map(String).join('')),
    handle: (wire) => serve(wire, parts),
    upgrade: (wire) => serve(wire, parts),
    upgradesAt: (url) => leavesHttp(url) || others.aggregation.hasAddress(url),
  })
  const client = localClient(server, apiserverUser, 'kube-apiserver')
  const customOptions = {
    root,
    release,
    objectMeta: facts.typeOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', release),
    convertElsewhere: conversionWebhooks(() => reader, randomUUID),
  }
  const definitions = new Definitions({
    server,
    client,
    resourceOf: (definition) => customResource(definition, customOptions),
    report: (message, error) => log.error(message, { error }),
  })
  await definitions.start()
  await Promise.all([access.follow(), server.admission.start(), reconcileBootstrapPolicy(release, reader, policyWriter(client))])
  health.done('roles')
  await ensureSystemObjects(client, {
    release,
    address: advertisedAddress(settings, thisMachine()),
    port: settings.securePort,
    serviceAddress: firstServiceAddress(settings.serviceClusterIpRange[0]),
  })
  await others.start({
    client,
    facts,
    catalog,
    release,
    clock: systemClock,
    ownAuthority: certificates.ca.certificatePem,
    report: (message, error) => log.error(message, { error }),
  })
  await observing.start(server, (manager) => localClient(server, apiserverUser, manager))
  for (const part of ['objects', 'definitions', 'server'] as const) health.done(part)
  await listener.listen(settings.securePort, settings.bindAddress)
  let controllersEnded: Promise<void> = Promise.resolve()
  stopOnSignal(
    [
      {
        name: 'delay',
        run: () => {
          health.stopping()
          return new Promise((resolve) => setTimeout(resolve, settings.shutdownDelayDurationMs))
        },
        timeoutMs: settings.shutdownDelayDurationMs + 1000,
      },
      {
        name: 'requests',
        run: async () => {
          stopping.abort()
          await listener.drain()
        },
        timeoutMs: 10_000,
      },
      {
        name: 'store',
        run: async () => {
          listener.destroy()
          await controllersEnded
          definitions.stop()
          others.stop()
          await observing.stop()
          await cache.close()
          await storage.close()
        },
      },
    ],
    (text) => log.info(text),
  )
  process.stdout.write(
    readyLines({
      url: localUrl(settings),
      tookMs: performance.now(),
      state: stateText(settings),
      release: settings.emulatedVersion,
      kubeconfig: writeKubeconfig(settings, certificates),
    }),
  )
  controllersEnded = startControllers({
    names: controllerNames,
    settings,
    server,
    certificates,
    log,
    signal: stopping.signal,
  }).catch((error) => log.error('controllers do not run', { error }))
}
