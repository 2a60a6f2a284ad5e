/**
 * A server inside any program: created from settings, closed by its owner. It parses no command
 * line, prints nothing, handles no signals and never exits the process. Several servers in one
 * process do not affect each other.
 */
import { existsSync } from 'node:fs'
import { type TimerClock, timerMsMax } from '#base/clock.ts'
import type { Random } from '#base/random.ts'
import { loadLater } from '#base/load-later.ts'
import type { Foundation } from './foundation.ts'
import type { Wire } from '#http/exchange.ts'
import type { Revision, Storage } from '#storage/storage.ts'
import type { ApiClient } from '#client/client.ts'
import type { ReservedPort } from '#http/connections/free-port.ts'
import type { Listener } from '#http/connections/listener.ts'
import type { Settings } from '#settings/flags.ts'
import { SharedEntries } from '#watchcache/shared-entries.ts'
import { localClient } from '#verbs/local-client.ts'
import { localUrl } from './addresses.ts'
import { apiserverUser, type Certificates } from './certificates.ts'
import { type ClosingStep, runClosing } from './closing.ts'
import { type Cluster, openCluster } from './cluster.ts'
import { writeKubeconfig } from './kubeconfig.ts'
import { listensEarly, makeListener } from './make-http.ts'
import type { ServerStatus } from './server-status.ts'
import type { Observing } from './observing.ts'
import type { Surroundings } from './surroundings.ts'

type FreePort = typeof import('#http/connections/free-port.ts')
const loadFreePort = loadLater<FreePort>(import.meta.url, '#http/connections/free-port')
const loadStatus = loadLater<typeof import('./server-status.ts')>(
  import.meta.url,
  './server-status',
)
const loadListening = loadLater<typeof import('./listening.ts')>(import.meta.url, './listening')

export interface Fork {
  readonly storage: Storage
  /**
   * The newest revision of the writes that a restore of an older state discarded; 0 without a
   * restore. New writes get these revisions again, so a watch from a discarded one gets 410.
   */
  readonly discardedUpTo: Revision
  /** Settings that differ from those of the parent cluster. */
  readonly options: Partial<Settings>
  readonly clock: TimerClock
  readonly random: Random
  /** Private keys as PEM. All of them verify service account tokens; the first one signs them. */
  readonly tokenKeys: readonly string[]
}

export interface ForkedServer {
  readonly serve: (wire: Wire) => void
  close(): Promise<void>
}

export interface RunningServer {
  /** `https://127.0.0.1:6443` */
  readonly url: string
  /** The path of a kubeconfig of the administrator. */
  readonly kubeconfig: string
  readonly certificates: Certificates
  /** A client without a socket, as system:apiserver. */
  readonly client: ApiClient
  /** Deprecated metrics of the release: one log line each, which the program may print. */
  readonly deprecations: readonly string[]
  /** The current state of the server. */
  status(): Promise<ServerStatus>
  /** Handles a request that does not come from the listener. */
  readonly serve: (wire: Wire) => void
  /**
   * Opens another cluster on another store. It shares the kinds and certificates of this cluster
   * and has no listener. The store must already contain the objects that a server writes before its
   * first request.
   */
  openFork(fork: Fork): Promise<ForkedServer>
  /** Resolves when the background writes of the start are complete. */
  settled(): Promise<unknown>
  /** Resolves when no timer, socket or thread of the server is left. May be called again. */
  close(): Promise<void>
}

/** Longer than the request timeout: closing waits until the timeout error has been sent. */
const lastAnswersMs = 1000

/** How long deregistering may take: some requests to the store of a busy machine. */
const leavingMs = 10_000

/** How long requests wait for an etcd that does not respond while the server stops. */
const storeGraceMs = 5000

export async function createServer(
  settings: Settings,
  surroundings: Surroundings,
): Promise<RunningServer> {
  const { signal } = surroundings
  signal?.throwIfAborted()
  await using opened = new AsyncDisposableStack()
  const parts = await openParts(settings, surroundings, opened)
  const close = closeOnce([...closingSteps(parts, opened.move())])
  // If the start is aborted, the server is closed before the promise rejects.
  if (signal?.aborted) await close()
  signal?.throwIfAborted()
  signal?.addEventListener('abort', () => void close().catch(() => {}), { once: true })
  const { foundation, server, observing } = parts.cluster.handling
  const { certificates } = foundation
  const entries = new SharedEntries()
  return {
    url: localUrl(foundation.settings),
    kubeconfig: writeKubeconfig(foundation.settings, certificates),
    certificates,
    client: localClient(server, apiserverUser, 'kube-apiserver'),
    deprecations: observing.deprecations,
    status: statusOnce(foundation, observing),
    serve: parts.cluster.serve,
    settled: () => observing.settled(),
    openFork: (fork) => openFork(foundation, entries, surroundings, fork),
    close,
  }
}

function statusOnce(foundation: Foundation, { operation }: Observing): RunningServer['status'] {
  let read: (() => Promise<ServerStatus>) | undefined
  return () => (read ??= loadStatus().statusReader(foundation, operation))()
}

async function openFork(
  { settings, facts, certificates, builtIn, feature, loopback }: Foundation,
  entries: SharedEntries,
  surroundings: Surroundings,
  { storage, discardedUpTo, options, clock, random, tokenKeys }: Fork,
): Promise<ForkedServer> {
  await using opened = new AsyncDisposableStack()
  const same = { facts, certificates, builtIn, feature, loopback, entries }
  const shared = { ...same, storage, discardedUpTo, tokenKeys }
  const own = { ...settings, ...options } as Settings
  const cluster = await openCluster(own, { ...surroundings, clock, random }, opened, shared)
  await cluster.makeReady()
  cluster.runControllers()
  const closing = opened.move()
  return { serve: cluster.serve, close: () => closing.disposeAsync() }
}

interface OpenParts {
  readonly cluster: Cluster
  readonly listener: Listener
}

/** Opens the parts in order. `opened` closes them in reverse order, also if the start fails. */
async function openParts(
  given: Settings,
  surroundings: Surroundings,
  opened: AsyncDisposableStack,
): Promise<OpenParts> {
  const { signal, route } = surroundings
  const reserved = await portOf(given, opened)
  const settings = { ...given, securePort: reserved?.port ?? given.securePort }
  // The program may share its own store and certificates, which are also in `surroundings`.
  const shared = surroundings
  const cluster = await openCluster(settings, surroundings, opened, shared)
  const { handling, serve } = cluster
  const listener = makeListener(handling, route?.(serve) ?? serve)
  opened.defer(() => listener.destroy())
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
  await cluster.makeReady()
  if (!listensEarly(settings)) await listen()
  cluster.startUpkeep(listener)
  cluster.runControllers()
  return { cluster, listener }
}

/**
 * With --secure-port=0: reserves a free port until the listener uses it. With another port, a first
 * start checks the port before it writes files. If the data directory exists, the port is not
 * checked here: another server may use both, and the error for the directory says more.
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
  { cluster: { handling, stopping, membership }, listener }: OpenParts,
  opened: AsyncDisposableStack,
): ClosingStep[] {
  const { foundation, health } = handling
  const { settings, storage } = foundation
  const delayMs = settings.shutdownDelayDurationMs
  return [
    {
      name: 'delay',
      async run() {
        health.stopping()
        await Promise.all([membership?.leave(), new Promise((over) => setTimeout(over, delayMs))])
      },
      timeoutMs: delayMs + leavingMs,
    },
    {
      name: 'requests',
      async run() {
        stopping.abort()
        // Ends requests that wait for an etcd that does not respond.
        const timer = setInterval(() => {
          const isAway = settings.storageBackend === 'etcd3' && storage.trouble() !== undefined
          if (isAway) void storage.close()
        }, storeGraceMs)
        timer.unref()
        await listener.drain().finally(() => clearInterval(timer))
      },
      timeoutMs: Math.min(settings.requestTimeoutMs + lastAnswersMs, timerMsMax),
    },
    { name: 'store', run: () => opened.disposeAsync() },
  ]
}
