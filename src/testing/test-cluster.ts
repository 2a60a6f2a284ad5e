/**
 * One cluster of a test, with its own objects, definitions, roles, tokens and revisions. A fork
 * shares all objects with its origin until one side writes them. The first request opens the
 * cluster's server.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { type Random, systemRandom } from '#base/random.ts'
import { seededRandom } from '#base/seeded.ts'
import type { ForkedServer } from '#server/create-server.ts'
import type { MemoryStorage } from '#storage/memory/memory.ts'
import type { Storage } from '#storage/storage.ts'
import { answerError, Faults } from './faults/faults.ts'
import { FaultyStore, StoreFaults } from './faults/faulty-store.ts'
import { LaggingStore } from './faults/lagging-store.ts'
import { newTokenKey } from './cluster-token.ts'
import { type InProcessCall, callInProcess, type Serve } from './in-process-call.ts'
import { readManifests } from './manifests.ts'
import { ClosedCluster } from './closed-cluster.ts'
import { type KubeConfigOptions, kubeConfigOptions } from './kubeconfig.ts'
import { RequestLog, type RequestRecord } from './request-log.ts'
import type { Snapshot } from './snapshot.ts'
import { readSnapshot, writeSnapshot } from './snapshot-file.ts'
import { TestClient } from './test-client.ts'
import { TestClock } from './test-clock.ts'

/** Seeds of forks must differ from those of their own forks. */
const seedStep = 1009

export interface ActingOptions {
  readonly groups?: readonly string[]
  readonly userAgent?: string
}

export interface OpenOptions {
  readonly discardedUpTo: number
  readonly isReplica: boolean
  readonly random: Random
}

/** The parts of the process that a cluster uses. */
export interface Host {
  /** Opens a server for a store. */
  open(cluster: TestCluster, storage: Storage, options: OpenOptions): Promise<ForkedServer>
  /** Adds a cluster with this state. */
  add(state: Snapshot, name: string | undefined, origin: TestCluster): TestCluster
  remove(cluster: TestCluster): Promise<void>
  urlOf(name: string): string
  kubeconfigOf(name: string, token: string): string
  /** The CA certificate that clients trust, as PEM. */
  readonly authority: string
}

interface Live {
  readonly storage: MemoryStorage
  readonly random: Random
  server: ForkedServer | undefined
  opening: Promise<ForkedServer> | undefined
}

const liveOn = ({ storage, seed }: Snapshot, clock: TestClock): Live => ({
  storage: storage.fork(clock),
  random: seed === undefined ? systemRandom : seededRandom(seed),
  server: undefined,
  opening: undefined,
})

export class TestCluster implements AsyncDisposable {
  readonly name: string
  /** The bearer token of an administrator of this cluster. */
  readonly token: string
  /** Sends requests without a socket, as an administrator. */
  readonly client: TestClient
  /** Injects faults: requests that fail, are delayed, stale or lost. */
  readonly faults: Faults
  /** Makes the store slow, full or unavailable. */
  readonly store: StoreFaults
  /** The clock of this cluster: freeze it, or move it forward. */
  readonly clock: TestClock
  readonly #host: Host
  readonly #origin: Snapshot
  readonly #log = new RequestLog()
  #live: Live
  readonly #ancestor: TestCluster | undefined
  #tokenKey: string | undefined
  #discardedUpTo = 0
  #closing: Promise<unknown>[] = []
  #closed = false
  /** The number of forks and snapshots: each continues with its own seed. */
  #copies = 0

  constructor(host: Host, name: string, token: string, state: Snapshot, origin?: TestCluster) {
    this.#host = host
    this.name = name
    this.token = token
    this.#origin = state
    this.#ancestor = origin
    this.clock = new TestClock(state.clock)
    this.#live = liveOn(state, this.clock)
    this.client = this.#clientWith({}, origin?.client)
    this.faults = new Faults(
      () => this.clock.elapsed(),
      (lag) => this.#replica(lag),
    )
    this.store = new StoreFaults(() => this.#live.storage.compact(this.revision))
  }

  /**
   * Private keys for service account tokens. The cluster signs with the first one, which no other
   * cluster accepts. Tokens from before a fork stay valid in the fork.
   */
  get tokenKeys(): readonly string[] {
    this.#tokenKey ??= newTokenKey()
    return [this.#tokenKey, ...(this.#ancestor?.tokenKeys ?? [])]
  }

  /** The URL of this cluster for kubectl and client libraries. */
  get url(): string {
    return this.#host.urlOf(this.name)
  }

  /** A kubeconfig as text. */
  get kubeconfig(): string {
    return this.#host.kubeconfigOf(this.name, this.token)
  }

  /** For `new KubeConfig().loadFromOptions(cluster.kubeConfig)` of @kubernetes/client-node. */
  get kubeConfig(): KubeConfigOptions {
    return kubeConfigOptions({ url: this.url, authority: this.#host.authority, token: this.token })
  }

  /** The requests that this cluster received, oldest first. */
  get requests(): readonly RequestRecord[] {
    return this.#log.records
  }

  /** The newest revision of the store. */
  get revision(): number {
    return this.#live.storage.currentRevision()
  }

  /** Handles one request of the listener or of a client in this process. */
  readonly serve: Serve = (wire) => {
    this.faults.serve(wire, this.#log.follow(wire), this.#serve)
  }

  readonly #serve: Serve = (wire) => {
    const { server } = this.#live
    if (server !== undefined) return server.serve(wire)
    this.open().then(
      ({ serve }) => serve(wire),
      (error: Error) => answerError(wire, { code: 503, message: error.message }),
    )
  }

  /** Opens the server of this cluster, if it is not open. */
  open(): Promise<ForkedServer> {
    if (this.#closed) return Promise.reject(new ClosedCluster(this.name))
    const live = this.#live
    live.opening ??= this.#host
      .open(this, new FaultyStore(live.storage, this.store), {
        random: live.random,
        discardedUpTo: this.#discardedUpTo,
        isReplica: false,
      })
      .then(
        (server) => {
          live.server = server
          return server
        },
        (error) => {
          // The next request tries again: the store may have recovered from a fault.
          live.opening = undefined
          throw error
        },
      )
    return live.opening
  }

  /** A server on the same store whose reads are some revisions behind. */
  async #replica(revisions: number): Promise<ForkedServer> {
    const { storage, random } = this.#live
    await this.open()
    const options = { discardedUpTo: this.#discardedUpTo, isReplica: true, random }
    const lagging = new FaultyStore(new LaggingStore(storage, revisions), this.store)
    return this.#host.open(this, lagging, options)
  }

  /** A client that acts as another user: `cluster.as('alice', { groups: ['dev'] })`. */
  as(user: string, { groups = [], userAgent }: ActingOptions = {}): TestClient {
    return this.#clientWith({
      'impersonate-user': user,
      ...(groups.length > 0 && { 'impersonate-group': [...groups] }),
      ...(userAgent !== undefined && { 'user-agent': userAgent }),
    })
  }

  /** A client with its own user agent, which fault rules and `requests` can distinguish. */
  clientNamed(userAgent: string): TestClient {
    return this.#clientWith({ 'user-agent': userAgent })
  }

  /** Copies this cluster in its current state. The copy has its own name, token and URL. */
  fork(name?: string): Promise<TestCluster> {
    return Promise.resolve(this.#host.add(this.snapshot(), name, this))
  }

  /**
   * Returns the state of this cluster as a value. With `file`, also writes it there: the clusters
   * of another process of the same version can restore it.
   */
  snapshot({ file }: { readonly file?: string | undefined } = {}): Snapshot {
    this.#requireOpen()
    const storage = this.#live.storage.fork()
    const { seed } = this.#origin
    const snapshot: Snapshot = {
      revision: storage.currentRevision(),
      storage,
      clock: this.clock.state,
      seed: seed === undefined ? undefined : seed * seedStep + ++this.#copies,
    }
    if (file !== undefined) writeSnapshot(file, snapshot)
    return snapshot
  }

  /**
   * Restores the state of a snapshot, or of a file with one. Watches end; a watch from a discarded
   * revision gets 410.
   */
  async restore(saved: Snapshot | string): Promise<void> {
    this.#requireOpen()
    const state = typeof saved === 'string' ? readSnapshot(saved) : saved
    const old = this.#live
    this.#discardedUpTo = Math.max(this.#discardedUpTo, old.storage.currentRevision())
    this.clock.state = state.clock
    this.#live = liveOn(state, this.clock)
    this.#log.clear()
    this.faults.clear()
    this.store.recover()
    this.#closing.push(closeLive(old))
  }

  /** Restores the state in which this cluster was started or forked. */
  reset(): Promise<void> {
    this.#copies = 0
    return this.restore(this.#origin)
  }

  /**
   * Applies every object in the YAML and JSON files of a folder, definitions and namespaces first.
   * Waits until each definition is established, so that its kind is served, also in forks.
   */
  async loadManifests(directory: string): Promise<KubeObject[]> {
    const applied: KubeObject[] = []
    for (const object of readManifests(directory)) {
      const made = await this.client.apply(object, { fieldManager: 'manifests', force: true })
      const { apiVersion = '', kind = '', metadata } = made
      const isDefinition = kind === 'CustomResourceDefinition'
      const established = { apiVersion, kind, metadata: { name: metadata.name } }
      applied.push(isDefinition ? await this.client.waitFor(established, isEstablished) : made)
    }
    return applied
  }

  /** Ends watches and controllers, and frees the state. May be called again. */
  close(): Promise<void> {
    return this.#host.remove(this)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Closes the open parts; the host calls this. */
  async shut(): Promise<void> {
    this.faults.clear()
    if (!this.#closed) this.#closing.push(closeLive(this.#live), this.#origin.storage.close())
    this.#closed = true
    await Promise.all(this.#closing)
  }

  #requireOpen(): void {
    if (this.#closed) throw new ClosedCluster(this.name)
  }

  #clientWith(
    headers: Readonly<Record<string, string | string[]>>,
    origin: TestClient | undefined = this.client,
  ): TestClient {
    const own = { authorization: `Bearer ${this.token}`, 'user-agent': 'binnacle-testing' }
    const send = async (call: InProcessCall) => {
      this.#requireOpen()
      const all = { ...call.headers, ...own, ...headers }
      return callInProcess(this.serve, { ...call, headers: all })
    }
    return new TestClient(send, origin)
  }
}

const isEstablished = (definition: KubeObject | undefined): boolean =>
  definition?.status?.conditions?.some(
    ({ type, status }: { type: string; status: string }) =>
      type === 'Established' && status === 'True',
  ) === true

async function closeLive({ storage, opening }: Live): Promise<void> {
  const server = await opening?.catch(() => undefined)
  if (server === undefined) await storage.close()
  else await server.close()
}
