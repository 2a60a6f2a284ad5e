/**
 * One cluster: a store and everything that serves it, without a listener. A server has one cluster.
 * A test server has one for each fork, behind the same listener.
 */
import { type ControllerName, selectControllers } from '#controllers/names.ts'
import type { Wire } from '#http/exchange.ts'
import type { Listener } from '#http/connections/listener.ts'
import { releaseNumber, type Settings } from '#settings/flags.ts'
import { buildInfo } from './build-info.ts'
import { orCannotStart } from './cannot-start.ts'
import { startControllers } from './controllers.ts'
import { type Foundation, gatesOf, openFoundation, type SharedParts } from './foundation.ts'
import { ServerHealth } from './health-checks.ts'
import { type RequestHandling, serverOf } from './make-http.ts'
import { makeServer } from './make-server.ts'
import type { Membership } from './membership.ts'
import { makeObserving } from './observing.ts'
import { makeReady, membershipOf } from './ready.ts'
import { aggregated } from './remote-servers.ts'
import type { Surroundings } from './surroundings.ts'
import { startUpkeep } from './upkeep.ts'

export interface Cluster {
  /** What handles requests: the server, access control, metrics and health checks. */
  readonly handling: RequestHandling
  readonly membership: Membership | undefined
  /** Aborted when the cluster takes no further requests. */
  readonly stopping: AbortController
  /** Answers one request. */
  readonly serve: (wire: Wire) => void
  /** Writes and reads what must exist before the first request. */
  makeReady(): Promise<void>
  /** Renews the certificates that the listener shows, and compacts the store. */
  startUpkeep(listener: Listener): void
  runControllers(): void
}

/** `opened` closes the parts in reverse order. */
export async function openCluster(
  given: Settings,
  surroundings: Surroundings,
  opened: AsyncDisposableStack,
  shared?: SharedParts,
): Promise<Cluster> {
  const names = controllerNames(given)
  const foundation = await openFoundation(given, surroundings, shared)
  const { storage, cache } = foundation
  opened.defer(() => storage.close())
  opened.defer(() => cache.close())
  const stopping = new AbortController()
  const running: { stop(): void | Promise<void> }[] = []
  let controllers: Promise<void> | undefined
  opened.defer(async () => {
    await controllers
    for (const part of running.reverse()) await part.stop()
  })
  const handling = await makeSide(foundation, stopping.signal)
  // Audit records are written first: the rest may wait for a store that does not answer.
  opened.defer(() => handling.observing.stop())
  opened.defer(() => stopping.abort())
  const membership = membershipOf(foundation)
  return {
    handling,
    membership,
    stopping,
    serve: serverOf(handling),
    async makeReady() {
      running.push(await makeReady(handling, membership))
    },
    startUpkeep(listener) {
      running.push(startUpkeep(foundation, listener, handling.access, handling.observing.operation))
    },
    runControllers() {
      controllers = runControllers(names, handling, stopping.signal)
    },
  }
}

function controllerNames({ controllers, emulatedVersion, enableGarbageCollector }: Settings) {
  const names = orCannotStart(selectControllers(controllers, releaseNumber(emulatedVersion)))
  return names.filter((name) => enableGarbageCollector || name !== 'garbagecollector')
}

/** Creates the request handling before the listener starts. */
async function makeSide(foundation: Foundation, stopping: AbortSignal): Promise<RequestHandling> {
  const { settings, release, feature, facts, storage, log, clock, parseStored } = foundation
  const version = facts.versionOf(release)
  const observing = orCannotStart(
    await makeObserving(settings, {
      release,
      build: buildInfo(version),
      feature,
      gates: () => gatesOf(settings, release).known,
      log,
      clock,
      random: foundation.random,
      parseStored: () => parseStored,
    }),
  )
  const { server, access } = await makeServer(foundation, observing)
  const health = new ServerHealth({
    release,
    feature,
    fair: observing.isFair,
    storeTrouble: () => storage.trouble(),
    livezGraceMs: settings.livezGracePeriodMs,
    monotonicMs: () => clock.elapsed(),
  })
  const around = {
    access,
    stopping,
    userAgent: `kube-apiserver/${version}`,
    documentBuilt: observing.documentBuilt,
    random: foundation.random,
  }
  const others = aggregated(settings, server, around)
  return { foundation, server, access, observing, health, others, around }
}

function runControllers(
  names: readonly ControllerName[],
  { foundation, server, others, observing }: RequestHandling,
  signal: AbortSignal,
): Promise<void> {
  const { settings, certificates, log, clock } = foundation
  const { aggregation } = others
  const { queueMeter } = observing
  return startControllers({
    names,
    settings,
    server,
    aggregation,
    queueMeter,
    certificates,
    log,
    clock,
    signal,
  }).catch((error) => log.error('controllers do not run', { error }))
}
