/**
 * A server inside any program: made from settings, closed by its owner. It reads no command line, prints nothing,
 * handles no signal and never ends the process; several servers in one process do not affect each other.
 */
import { existsSync } from 'node:fs'
import { timerMsMax } from '#base/clock.ts'
import { loadLater } from '#base/load-later.ts'
import type { ApiClient } from '#client/client.ts'
import { type ControllerName, selectControllers } from '#controllers/names.ts'
import type { ReservedPort } from '#http/free-port.ts'
import type { Listener } from '#http/listener.ts'
import { releaseNumber, type Settings } from '#settings/flags.ts'
import { localClient } from '#verbs/local-client.ts'
import { localUrl } from './addresses.ts'
import { buildInfo } from './build-info.ts'
import { orCannotStart } from './cannot-start.ts'
import { apiserverUser, type Certificates } from './certificates.ts'
import { type ClosingStep, runClosing } from './closing.ts'
import { startControllers } from './controllers.ts'
import { type Foundation, openFoundation } from './foundation.ts'
import { ServerHealth } from './health-checks.ts'
import { writeKubeconfig } from './kubeconfig.ts'
import { type HttpSide, listensEarly, makeListener } from './make-http.ts'
import { makeServer } from './make-server.ts'
import type { Membership } from './membership.ts'
import { makeObserving } from './observing.ts'
import { makeReady, membershipOf } from './ready.ts'
import { aggregated } from './remote-servers.ts'
import type { Surroundings } from './surroundings.ts'
import { startUpkeep } from './upkeep.ts'

type FreePort = typeof import('#http/free-port.ts')
const loadFreePort = loadLater<FreePort>(import.meta.url, '#http/free-port')
const loadListening = loadLater<typeof import('./listening.ts')>(import.meta.url, './listening')

export interface RunningServer {
  /** `https://127.0.0.1:6443` */
  readonly url: string
  /** The path of a kubeconfig of the administrator. */
  readonly kubeconfig: string
  readonly certificates: Certificates
  /** A client without a socket, as system:apiserver. */
  readonly client: ApiClient
  /** Deprecated metrics of the release, one line each for the program to show or not. */
  readonly deprecations: readonly string[]
  /** Resolves when no timer, socket or thread of the server is left. May be called again. */
  close(): Promise<void>
}

/** More than a request may take: until its refusal has been sent. */
const lastAnswersMs = 1000

export async function createServer(
  settings: Settings,
  surroundings: Surroundings,
): Promise<RunningServer> {
  const { signal } = surroundings
  signal?.throwIfAborted()
  await using opened = new AsyncDisposableStack()
  const parts = await openParts(settings, surroundings, opened)
  const close = closeOnce([...closingSteps(parts, opened.move())])
  // A server whose start was aborted closes before its start fails.
  if (signal?.aborted) await close()
  signal?.throwIfAborted()
  signal?.addEventListener('abort', () => void close().catch(() => {}), { once: true })
  const { foundation, server, observing } = parts.side
  const { certificates } = foundation
  return {
    url: localUrl(foundation.settings),
    kubeconfig: writeKubeconfig(foundation.settings, certificates),
    certificates,
    client: localClient(server, apiserverUser, 'kube-apiserver'),
    deprecations: observing.deprecations,
    close,
  }
}

interface OpenParts {
  readonly side: HttpSide
  readonly listener: Listener
  readonly stopping: AbortController
  readonly membership: Membership | undefined
}

/** Opens the parts in their order. What is open, `opened` closes: in the reverse order, and also when the start fails. */
async function openParts(
  given: Settings,
  surroundings: Surroundings,
  opened: AsyncDisposableStack,
): Promise<OpenParts> {
  const { signal } = surroundings
  const names = controllerNames(given)
  const reserved = await portOf(given, opened)
  const foundation = await openFoundation(
    { ...given, securePort: reserved?.port ?? given.securePort },
    surroundings,
  )
  const { settings, storage, cache } = foundation
  opened.defer(() => storage.close())
  opened.defer(() => cache.close())
  const stopping = new AbortController()
  const running: { stop(): void }[] = []
  let controllers: Promise<void> | undefined
  opened.defer(async () => {
    await controllers
    for (const part of running.reverse()) part.stop()
  })
  const side = await makeSide(foundation, stopping.signal)
  // Audit records are written first: the rest may wait for a store that does not answer.
  opened.defer(() => side.observing.stop())
  const listener = makeListener(side)
  opened.defer(() => {
    stopping.abort()
    listener.destroy()
  })
  const listen = () =>
    listener
      .listen(
        reserved?.socket ?? settings.securePort,
        settings.bindAddress,
        settings.permitPortSharing,
      )
      .catch((error) => cannotListen(error, settings))
  if (listensEarly(settings)) await listen()
  signal?.throwIfAborted()
  const membership = membershipOf(foundation)
  running.push(await makeReady(side, membership))
  if (!listensEarly(settings)) await listen()
  running.push(startUpkeep(foundation, listener, side.access))
  controllers = runControllers(names, side, stopping.signal)
  return { side, listener, stopping, membership }
}

function controllerNames({ controllers, emulatedVersion, enableGarbageCollector }: Settings) {
  const names = orCannotStart(selectControllers(controllers, releaseNumber(emulatedVersion)))
  return names.filter((name) => enableGarbageCollector || name !== 'garbagecollector')
}

/** What requests go through, before anything listens. */
async function makeSide(foundation: Foundation, stopping: AbortSignal): Promise<HttpSide> {
  const { settings, release, feature, facts, storage, log, clock, parseStored } = foundation
  const version = facts.versionOf(release)
  const observing = orCannotStart(
    await makeObserving(settings, {
      release,
      build: buildInfo(version),
      feature,
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
  { foundation, server, others, observing }: HttpSide,
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

/**
 * With --secure-port=0, a free port that is kept until the listener takes it over. Otherwise a first start with a taken
 * port fails before it writes files; a later start reports first that its data directory is in use.
 */
async function portOf(
  settings: Settings,
  opened: AsyncDisposableStack,
): Promise<ReservedPort | undefined> {
  const { securePort, bindAddress, permitPortSharing, dataDir } = settings
  if (securePort !== 0 && existsSync(dataDir)) return undefined
  const { requireFreePort, reservePort } = loadFreePort()
  try {
    if (securePort !== 0)
      return void (await requireFreePort(securePort, bindAddress, permitPortSharing))
    const reserved = await reservePort(bindAddress, permitPortSharing)
    opened.defer(() => reserved.release())
    return reserved
  } catch (error) {
    return cannotListen(error as NodeJS.ErrnoException, settings)
  }
}

async function cannotListen(error: NodeJS.ErrnoException, settings: Settings): Promise<never> {
  return loadListening().cannotListen(error, settings)
}

function closeOnce(steps: readonly ClosingStep[]): () => Promise<void> {
  let closing: Promise<void> | undefined
  return () => (closing ??= runClosing(steps))
}

function closingSteps(
  { side: { foundation, health }, stopping, listener, membership }: OpenParts,
  opened: AsyncDisposableStack,
): ClosingStep[] {
  const { settings } = foundation
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
    { name: 'store', run: () => opened.disposeAsync() },
  ]
}
