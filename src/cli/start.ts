/** From settings to a running server: builds the parts in their order, makes it ready, listens, and knows how to stop. */
import { existsSync } from 'node:fs'
import type { Access } from '#access/make-access.ts'
import { reconcileBootstrapPolicy } from '#access/authorize/reconcile.ts'
import { systemClock, timerMsMax } from '#base/clock.ts'
import { loadLater } from '#base/load-later.ts'
import { selectControllers } from '#controllers/names.ts'
import type { Listener } from '#http/listener.ts'
import { createLog } from '#observe/log.ts'
import { localClient } from '#verbs/local-client.ts'
import { advertisedAddress, firstServiceAddress, localUrl } from '#server/addresses.ts'
import { buildInfo } from '#server/build-info.ts'
import { orCannotStart } from '#server/cannot-start.ts'
import { apiserverUser, ensureCertificates, givenFiles, thisMachine } from '#server/certificates.ts'
import { compactRegularly } from '#server/compaction.ts'
import { startControllers } from '#server/controllers.ts'
import { followDefinitions } from '#server/custom-kinds.ts'
import { type Parsed, releaseNumber, type Settings } from '#settings/flags.ts'
import { type Foundation, openFoundation } from '#server/foundation.ts'
import { ServerHealth } from '#server/health-checks.ts'
import { writeKubeconfig } from '#server/kubeconfig.ts'
import {
  followAuthorities,
  type HttpSide,
  listensEarly,
  makeListener,
  shownKeys,
} from '#server/make-http.ts'
import { makeServer } from '#server/make-server.ts'
import type { Membership } from '#server/membership.ts'
import { makeObserving } from '#server/observing.ts'
import { readyLines, stateText } from './ready-lines.ts'
import { aggregated } from '#server/remote-servers.ts'
import { renewDaily } from '#server/renewal.ts'
import { type StopStep, stopOnSignal } from './stop.ts'
import {
  ensureSystemObjects,
  lookAfterSystemObjects,
  policyWriter,
  type ServerPlace,
} from '#server/system-objects.ts'

type FreePort = typeof import('#http/free-port.ts')
const loadFreePort = loadLater<FreePort>(import.meta.url, '#http/free-port')
const loadListening = loadLater<typeof import('#server/listening.ts')>(
  import.meta.url,
  '#server/listening',
)
const loadMembership = loadLater<typeof import('#server/membership.ts')>(
  import.meta.url,
  '#server/membership',
)

/** Beyond what a request may take: until its refusal has left. */
const lastAnswersMs = 1000

export async function start({ settings }: Parsed): Promise<void> {
  const say = (line: string) => process.stderr.write(line)
  const log = createLog(settings.v, say, Date.now, settings.loggingFormat)
  const { emulatedVersion, enableGarbageCollector } = settings
  const names = orCannotStart(
    selectControllers(settings.controllers, releaseNumber(emulatedVersion)),
  ).filter((name) => enableGarbageCollector || name !== 'garbagecollector')
  if (!existsSync(settings.dataDir)) await requirePort(settings)
  const foundation = await openFoundation(settings, log)
  const { release, feature, facts, storage, parseStored } = foundation
  const version = facts.versionOf(release)
  const observing = orCannotStart(
    await makeObserving(settings, {
      release,
      build: buildInfo(version),
      feature,
      log,
      parseStored: () => parseStored,
    }),
  )
  const { server, access } = await makeServer(foundation, observing)
  const stopping = new AbortController()
  const health = new ServerHealth({
    release,
    fair: observing.isFair,
    storeTrouble: () => storage.trouble(),
    livezGraceMs: settings.livezGracePeriodMs,
    monotonicMs: () => performance.now(),
  })
  const around = {
    access,
    stopping: stopping.signal,
    userAgent: `kube-apiserver/${version}`,
    documentBuilt: observing.documentBuilt,
  }
  const others = aggregated(settings, server, around)
  const side = { foundation, server, access, observing, health, others, around }
  const listener = makeListener(side)
  const listen = () =>
    listener
      .listen(settings.securePort, settings.bindAddress, settings.permitPortSharing)
      .catch((error) => cannotListen(error, settings))
  if (listensEarly(settings)) await listen()
  const membership = await membershipOf(foundation)
  const running = await makeReady(side, membership)
  if (!listensEarly(settings)) await listen()
  const watched = watchOver(foundation, listener, access)
  let controllersEnded: Promise<void> = Promise.resolve()
  stopOnSignal(
    stopSteps(side, stopping, listener, membership, async () => {
      await controllersEnded
      watched.stop()
      running.stop()
    }),
    (text) => log.info(text),
  )
  process.stdout.write(
    readyLines({
      url: localUrl(settings),
      tookMs: performance.now(),
      state: stateText(settings),
      release: settings.emulatedVersion,
      kubeconfig: writeKubeconfig(settings, foundation.certificates),
    }),
  )
  for (const deprecation of observing.deprecations) log.warn(deprecation)
  const { certificates } = foundation
  controllersEnded = startControllers({
    names,
    settings,
    server,
    aggregation: others.aggregation,
    queueMeter: observing.queueMeter,
    certificates,
    log,
    signal: stopping.signal,
  }).catch((error) => log.error('controllers do not run', { error }))
}

/** A first start that finds its port taken makes nothing; a later one is told first where its state is in use. */
async function requirePort(settings: Settings): Promise<void> {
  const { requireFreePort } = loadFreePort()
  const { securePort, bindAddress, permitPortSharing } = settings
  await requireFreePort(securePort, bindAddress, permitPortSharing).catch((error) =>
    cannotListen(error, settings),
  )
}

async function cannotListen(error: NodeJS.ErrnoException, settings: Settings): Promise<never> {
  return loadListening().cannotListen(error, settings)
}

/** Stores of one server have none. */
async function membershipOf(foundation: Foundation): Promise<Membership | undefined> {
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

/** Everything that must be there before the first request: definitions, roles, objects, what others serve. */
async function makeReady(
  { foundation, server, access, observing, health, others }: HttpSide,
  membership: Membership | undefined,
) {
  const { settings, release, facts, catalog, reader, certificates, report } = foundation
  const client = localClient(server, apiserverUser, 'kube-apiserver')
  const definitions = followDefinitions(foundation, server, client, observing.schemaPublished)
  await definitions.start()
  health.done('definitions')
  // --runtime-config may leave out whatever it wants, roles too.
  const hasRoles = catalog.find('rbac.authorization.k8s.io', 'v1', 'clusterroles') !== undefined
  const roles = hasRoles && reconcileBootstrapPolicy(release, reader, policyWriter(client))
  const ownAuthority = certificates.ca.certificatePem
  const address = advertisedAddress(settings, thisMachine())
  const own = settings.endpointReconcilerType === 'none' ? [] : [address]
  const place: ServerPlace = {
    release,
    address,
    port: settings.securePort,
    alive: async () => membership?.alive() ?? own,
    serviceAddress: firstServiceAddress(settings.serviceClusterIpRange[0]),
    nodePort: settings.kubernetesServiceNodePort,
    report,
  }
  // None of these needs another's writes: waiting for the store, each leaves the others their turn.
  await Promise.all([
    Promise.all([access.follow(), server.admission.start(), roles]).then(() =>
      health.done('roles'),
    ),
    ensureSystemObjects(client, place),
    others.start({ client, facts, catalog, release, clock: systemClock, ownAuthority, report }),
    observing.start(server, (manager) => localClient(server, apiserverUser, manager)),
  ])
  membership?.start(client, server.allocators)
  // Where there are several servers, what the service leads to is theirs to say.
  const ledElsewhere = { ...place, alive: async () => [] }
  const objects = lookAfterSystemObjects(client, membership === undefined ? place : ledElsewhere)
  health.done('objects')
  health.done('server')
  return {
    stop() {
      objects.stop()
      definitions.stop()
      others.stop()
      access.stop()
    },
  }
}

/** What is looked after while the server runs: history that grows, certificates that expire. */
function watchOver(
  { settings, storage, certificates, loopback, log, report }: Foundation,
  listener: Listener,
  access: Access,
) {
  const compaction = compactRegularly(
    storage,
    settings.etcdCompactionIntervalMs,
    (message, error) => log.warn(message, { error }),
  )
  const renewal = renewDaily(
    certificates,
    () => ensureCertificates(settings, systemClock),
    (fresh) => {
      listener.renew(shownKeys(fresh, loopback))
      writeKubeconfig(settings, fresh)
    },
    (error) => report('certificates could not be renewed', error),
    systemClock,
    givenFiles(settings),
  )
  const forgetAuthorities = followAuthorities(access, listener)
  return {
    stop() {
      compaction.stop()
      renewal.stop()
      forgetAuthorities()
    },
  }
}

function stopSteps(
  { foundation, health, observing }: HttpSide,
  stopping: AbortController,
  listener: Listener,
  membership: Membership | undefined,
  endWork: () => Promise<void>,
): StopStep[] {
  const { settings, cache, storage } = foundation
  const delayMs = settings.shutdownDelayDurationMs
  return [
    {
      name: 'delay',
      async run() {
        health.stopping()
        await Promise.all([membership?.leave(), new Promise((over) => setTimeout(over, delayMs))])
      },
      timeoutMs: delayMs + 1000,
    },
    {
      name: 'requests',
      async run() {
        stopping.abort()
        await listener.drain()
      },
      timeoutMs: Math.min(settings.requestTimeoutMs + lastAnswersMs, timerMsMax),
    },
    {
      name: 'store',
      async run() {
        listener.destroy()
        // First what requests left: the rest may wait for a store that is away.
        await observing.stop()
        await endWork()
        await cache.close()
        await storage.close()
      },
    },
  ]
}
