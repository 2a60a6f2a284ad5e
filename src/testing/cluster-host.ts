/**
 * The parts that the clusters of a process share: one listener with an address, certificates, and
 * the initial store. A request to `/clusters/NAME` reaches the cluster of that name; a request
 * without such a path reaches the first cluster.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '#base/clock.ts'
import { type Random, systemRandom } from '#base/random.ts'
import { seededRandom } from '#base/seeded.ts'
import { createLog } from '#observe/log.ts'
import { ensureCertificates, thisMachine } from '#server/certificates.ts'
import { writeUnsyncedFiles } from '#server/private-files.ts'
import { createServer, type ForkedServer, type RunningServer } from '#server/create-server.ts'
import { type ServerOptions, settingsOf } from '#settings/settings-of.ts'
import { createMemoryStorage, type MemoryStorage } from '#storage/memory/memory.ts'
import type { Storage } from '#storage/storage.ts'
import { routeClusters } from './cluster-routes.ts'
import { writeTokenFile } from './cluster-token.ts'
import type { Serve } from './in-process-call.ts'
import { type InitialStore, packagedInitialStore, startedStore } from './initial-store.ts'
import { kubeconfigText } from './kubeconfig.ts'
import { TestClock } from './test-clock.ts'
import type { Snapshot } from './snapshot.ts'
import { type Host, type OpenOptions, TestCluster } from './test-cluster.ts'

export interface ClusterOptions extends ServerOptions {
  /** Receives the lines of the log. Without it, the log is dropped. */
  readonly log?: (line: string) => void
  /**
   * Makes uids, generated names and times the same in every run. The clock is frozen at
   * `seededTime` until the test changes it. Certificates and signatures differ between runs.
   */
  readonly seed?: number
}

/** A test server has no Nodes, so objects must not wait for a kubelet. */
const testDefaults: ServerOptions = {
  emulatedVersion: '1.37',
  storageBackend: 'memory',
  securePort: 0,
  // The grace period of closing: the clients of a closed cluster need no time to disconnect.
  shutdownDelayDurationMs: 0,
}
/** The initial time of a cluster with a seed. */
export const seededTime = '2026-01-01T00:00:00Z'
const firstName = 'first'
const clusterName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

function requireMemory({ storageBackend = 'memory' }: ServerOptions): void {
  if (storageBackend === 'memory') return
  const given = JSON.stringify(storageBackend)
  throw new TypeError(
    `storageBackend: test clusters keep their state in memory, so leave ${given} out; snapshot({ file }) keeps a state on disk`,
  )
}

/** Handles some requests of the listener and passes on the others. */
export type Control = (next: Serve) => Serve

export class ClusterHost implements Host {
  readonly #clusters = new Map<string, TestCluster>()
  readonly #directory = mkdtempSync(join(tmpdir(), 'binnacle-testing-'))
  readonly #clock = new TestClock()
  readonly #seed: number | undefined
  readonly #random: Random
  readonly #storage: MemoryStorage
  readonly #options: ServerOptions
  readonly #write: (line: string) => void
  readonly #control: Control | undefined
  #server: RunningServer | undefined
  #added = 0

  /** `control` handles requests before all clusters. */
  constructor(
    { log = () => {}, seed, ...options }: ClusterOptions,
    control?: Control,
    initial: InitialStore | undefined = packagedInitialStore(),
  ) {
    requireMemory(options)
    this.#control = control
    this.#write = log
    this.#seed = seed
    if (seed !== undefined) this.#clock.freeze(seededTime)
    this.#options = { ...testDefaults, dataDir: this.#directory, ...options }
    this.#random = seed === undefined ? systemRandom : seededRandom(seed)
    const started = initial && startedStore(initial, this.#options, this.#clock, this.#random)
    this.#storage = started ?? createMemoryStorage({ clock: this.#clock })
  }

  async start(): Promise<void> {
    const settings = settingsOf({ ...this.#options, controllers: ['-*'] })
    const log = createLog(settings.v, this.#write, systemClock.now, settings.loggingFormat)
    try {
      this.#server = await createServer(settings, {
        log,
        clock: this.#clock,
        random: this.#random,
        storage: this.#storage,
        // Clients verify certificates with the clock of the machine.
        certificates: ensureCertificates(settings, systemClock, thisMachine(), writeUnsyncedFiles),
        route: (serve) => {
          const clusters = routeClusters((name) => this.find(name)?.serve, this.#first(serve))
          return this.#control?.(clusters) ?? clusters
        },
      })
      // These writes are part of the initial store. Otherwise each cluster would repeat them at an
      // unpredictable time.
      await this.#server.settled()
    } catch (error) {
      rmSync(this.#directory, { recursive: true, force: true })
      throw error
    }
  }

  /** Requests without the path of a cluster reach the first one. */
  #first(base: Serve): Serve {
    return (wire) => (this.#clusters.get(firstName)?.serve ?? base)(wire)
  }

  /** The cluster of this name, if it is open. */
  find(name: string): TestCluster | undefined {
    return this.#clusters.get(name)
  }

  get clusters(): readonly TestCluster[] {
    return [...this.#clusters.values()]
  }

  /** The CA certificate that clients trust, as PEM. */
  get authority(): string {
    return this.#server?.certificates.trustPem ?? ''
  }

  /** The state in which the server started. */
  begin(): Snapshot {
    const storage = this.#storage.fork()
    const revision = storage.currentRevision()
    return { revision, storage, clock: this.#clock.state, seed: this.#seed }
  }

  first(): TestCluster {
    return this.add(this.begin(), firstName)
  }

  add(state: Snapshot, given: string | undefined, origin?: TestCluster): TestCluster {
    const name = given ?? `fork-${++this.#added}`
    if (!clusterName.test(name))
      throw new TypeError(`${JSON.stringify(name)} is no name of a cluster: use a DNS label`)
    if (this.#clusters.has(name)) throw new Error(`there is a cluster ${name} already`)
    const token = systemRandom.bytes(24).toString('hex')
    const cluster = new TestCluster(this, name, token, state, origin)
    this.#clusters.set(name, cluster)
    return cluster
  }

  async open(
    cluster: TestCluster,
    storage: Storage,
    { discardedUpTo, isReplica, random }: OpenOptions,
  ): Promise<ForkedServer> {
    const { name, token, tokenKeys, clock } = cluster
    if (this.#server === undefined || this.#clusters.get(name) !== cluster)
      throw new Error(`the cluster ${name} is closed`)
    const controllers = isReplica ? ['-*'] : settingsOf(this.#options).controllers
    const tokenAuthFile = writeTokenFile(this.#directory, name, token)
    const options = { controllers, tokenAuthFile }
    return this.#server.openFork({ storage, discardedUpTo, options, clock, random, tokenKeys })
  }

  urlOf(name: string): string {
    const url = this.#server?.url ?? ''
    return name === firstName ? url : `${url}/clusters/${name}`
  }

  kubeconfigOf(name: string, token: string): string {
    return kubeconfigText({ url: this.urlOf(name), authority: this.authority, token })
  }

  async remove(cluster: TestCluster): Promise<void> {
    const isLast = cluster.name === firstName
    const closed = isLast ? [...this.#clusters.values()] : [cluster]
    for (const { name } of closed) this.#clusters.delete(name)
    await Promise.all(closed.map((one) => one.shut()))
    if (!isLast) return rmSync(join(this.#directory, `${cluster.name}.tokens.csv`), { force: true })
    await this.#server?.close()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
