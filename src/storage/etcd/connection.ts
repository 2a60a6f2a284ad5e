/**
 * The connection to etcd: one gRPC channel per server. A request is sent to the server that
 * responded last. While no server is reachable, requests wait until their deadline, as in
 * kube-apiserver. The class knows the names of etcd's methods, but not their messages.
 */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { checkServerIdentity, createSecureContext } from 'node:tls'
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ClientUnaryCall,
  connectivityState,
  credentials,
  Metadata,
} from '@grpc/grpc-js'
import { StorageUnavailable } from '#storage/storage.ts'
import { ConnectionWait } from './connection-wait.ts'
import { describeFailure, isAway, isUnsent } from './failure.ts'
import { encodeRange } from './messages.ts'

export interface TlsOptions {
  readonly cafile?: string
  readonly certfile?: string
  readonly keyfile?: string
}

export interface ConnectionOptions {
  /** `http://host:port`, `https://host:port`, or `host:port` for the former. */
  readonly endpoints: readonly string[]
  readonly tls?: TlsOptions
  /** The time limit of a request, which includes the time that it waits for a connection. */
  readonly deadlineMs?: number
  /** How many requests may wait for a connection at once. */
  readonly waitingMax?: number
  /** The time limit of a health check; 0 for the default. */
  readonly healthDeadlineMs?: number
}

export const methods = {
  range: '/etcdserverpb.KV/Range',
  txn: '/etcdserverpb.KV/Txn',
  compact: '/etcdserverpb.KV/Compact',
  watch: '/etcdserverpb.Watch/Watch',
  leaseGrant: '/etcdserverpb.Lease/LeaseGrant',
  status: '/etcdserverpb.Maintenance/Status',
} as const

/** The default of --request-timeout: when it has passed, the client already has its 504. */
const defaultDeadlineMs = 60_000

/** Requests that wait for a connection at once: far more than --max-requests-inflight lets in. */
const defaultWaitingMax = 5000

/**
 * How long to wait for a first connection before the next server is tried: some servers accept
 * connections and never respond.
 */
const connectMs = 5000

/**
 * A store that does not report its health within this time is unhealthy: /readyz shows it long
 * before requests give up.
 */
const defaultHealthDeadlineMs = 2000

/** How much earlier etcd, which measures the deadline too, may report that it has passed. */
const deadlineToleranceMs = 100

/** How long running requests may take when the store closes. */
const closingMs = 2000

/** How often the health of a healthy etcd is checked. */
const healthyIntervalMs = 2000

/** How often an unhealthy etcd is checked, so that writes succeed soon after it has recovered. */
const troubledIntervalMs = 500

/**
 * With this metadata, a server without a leader ends its watches, which then move to another
 * server.
 */
const requireLeader = new Metadata()
requireLeader.set('hasleader', 'true')

const channelOptions = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5000,
  // Requests wait for the connection, and an attempt to connect is cheap.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 250,
}

type Stream = ClientDuplexStream<Buffer, Buffer>

export class Connection {
  readonly endpoints: string
  #clients: Client[]
  #probe: Buffer
  #deadlineMs: number
  readonly #waitingMax: number
  readonly #healthDeadlineMs: number
  readonly #names: readonly string[]
  /** The index of the client that responded last. */
  #preferred = 0
  #trouble: string | undefined
  #healthTimer: NodeJS.Timeout | undefined
  #running = new Set<Promise<unknown>>()
  #calls = new Set<ClientUnaryCall>()
  #wait = new ConnectionWait(() => this.#clients.map((client) => client.getChannel()))
  #closed: StorageUnavailable | undefined

  /** `probeKey` is read to check etcd's health. */
  constructor(options: ConnectionOptions, probeKey = 'health') {
    this.#probe = encodeRange({ key: probeKey, countOnly: true })
    if (options.endpoints.length === 0) throw new StorageUnavailable('no etcd server is named')
    this.endpoints = options.endpoints.join(', ')
    this.#deadlineMs = options.deadlineMs ?? defaultDeadlineMs
    this.#waitingMax = options.waitingMax ?? defaultWaitingMax
    this.#healthDeadlineMs = options.healthDeadlineMs || defaultHealthDeadlineMs
    this.#names = options.endpoints
    const tls = options.tls ?? {}
    this.#clients = options.endpoints.map((endpoint) => clientOf(parse(endpoint), tls))
    this.#watchHealth()
  }

  trouble(): string | undefined {
    return this.#closed?.message ?? this.#trouble
  }

  /** The deadline of a request that begins now: a time of day, and never later than `latest`. */
  deadline(latest = Number.POSITIVE_INFINITY): number {
    return Math.min(Date.now() + this.#deadlineMs, latest)
  }

  /** Sends a request that may be repeated without harm. */
  read(method: string, request: Buffer, deadline = this.deadline()): Promise<Buffer> {
    return this.#track(this.#send(method, request, isAway, deadline))
  }

  /** Sends a request that is repeated only if it did not reach a server. */
  write(method: string, request: Buffer, deadline = this.deadline()): Promise<Buffer> {
    return this.#track(this.#send(method, request, isUnsent, deadline))
  }

  watch(): Stream {
    if (this.#closed) throw this.#closed
    const client = this.#clients[this.#pick()]
    return client.makeBidiStreamRequest(methods.watch, same, same, requireLeader)
  }

  /** Called when a watch broke: the next watch uses another server. */
  watchFailed(error: unknown): void {
    this.#preferred = (this.#preferred + 1) % this.#clients.length
    if (isAway(error)) this.#troubled(error)
  }

  /** The response of each server, by its configured name; undefined if it does not respond. */
  async askEach(method: string, request: Buffer): Promise<[string, Buffer | undefined][]> {
    if (this.#closed) throw this.#closed
    const until = Date.now() + this.#healthDeadlineMs
    const responses = this.#clients.map((client) =>
      this.#call(client, method, request, until).catch(() => undefined),
    )
    const answers = await this.#track(Promise.all(responses))
    return answers.map((answer, i) => [this.#names[i], answer])
  }

  /** Rejects waiting requests. Running ones have some time to finish, then they are cancelled. */
  async close(): Promise<void> {
    this.#closed ??= new StorageUnavailable('the store is closed')
    this.#wait.end()
    clearTimeout(this.#healthTimer)
    const cancel = () => {
      for (const call of this.#calls) call.cancel()
    }
    const timer = setTimeout(cancel, closingMs)
    await Promise.allSettled(this.#running)
    clearTimeout(timer)
    for (const client of this.#clients) client.close()
  }

  #call(client: Client, method: string, request: Buffer, deadline: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const call = client.makeUnaryRequest(
        method,
        same,
        same,
        request,
        { deadline },
        (error, response) => {
          this.#calls.delete(call)
          if (error) reject(error)
          else resolve(response ?? Buffer.alloc(0))
        },
      )
      this.#calls.add(call)
    })
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work)
    try {
      return await work
    } finally {
      this.#running.delete(work)
    }
  }

  /** Tries each server, then waits for a connection and tries them again, until the deadline. */
  async #send(
    method: string,
    request: Buffer,
    mayRepeat: (error: unknown) => boolean,
    deadline: number,
  ): Promise<Buffer> {
    // If other requests already wait for a connection, an attempt would only cost time.
    for (let isTried = this.#wait.isNeeded; ; isTried = true) {
      if (isTried) await this.#untilReady(deadline)
      try {
        return await this.#tryEach(method, request, mayRepeat, deadline)
      } catch (error) {
        if (!mayRepeat(error) || Date.now() >= deadline) throw error
      }
    }
  }

  async #untilReady(deadline: number): Promise<void> {
    if (this.#wait.waiting >= this.#waitingMax)
      throw new StorageUnavailable('too many requests wait for etcd')
    await this.#wait.untilReady(deadline)
    if (this.#closed) throw this.#closed
    if (Date.now() >= deadline) throw new StorageUnavailable(this.#trouble ?? 'etcd did not answer')
  }

  async #tryEach(
    method: string,
    request: Buffer,
    mayRepeat: (error: unknown) => boolean,
    deadline: number,
    isHealthCheck = false,
  ): Promise<Buffer> {
    for (let attempt = 1; ; attempt++) {
      if (this.#closed) throw this.#closed
      if (this.#clients.length > 1)
        await this.#connecting(Math.min(deadline, Date.now() + connectMs))
      const picked = this.#pick()
      try {
        const response = await this.#call(this.#clients[picked], method, request, deadline)
        this.#trouble = undefined
        return response
      } catch (error) {
        // A client may specify a short deadline, so only the health check reports silence.
        const isLate = Date.now() >= deadline - deadlineToleranceMs
        const isTrouble = isAway(error) && (isHealthCheck || !isLate)
        if (isTrouble) this.#preferred = (picked + 1) % this.#clients.length
        const last = attempt >= this.#clients.length || Date.now() >= deadline
        if (!last && mayRepeat(error)) continue
        if (isTrouble) this.#troubled(error)
        throw error
      }
    }
  }

  /** Waits until a server is connected or all connections have failed. */
  async #connecting(until: number): Promise<void> {
    for (;;) {
      const channels = this.#clients.map((client) => client.getChannel())
      const states = channels.map((channel) => channel.getConnectivityState(true))
      const isSettled =
        states.includes(connectivityState.READY) ||
        states.every((state) => state === connectivityState.TRANSIENT_FAILURE)
      if (this.#closed || isSettled || Date.now() >= until) return
      await new Promise<void>((changed) => {
        channels.forEach((channel, i) => {
          channel.watchConnectivityState(states[i], until, () => changed())
        })
      })
    }
  }

  /** Selects a connected server, or else one that may be connected soon. */
  #pick(): number {
    let hopeful: number | undefined
    for (let i = 0; i < this.#clients.length; i++) {
      const candidate = (this.#preferred + i) % this.#clients.length
      const state = this.#clients[candidate].getChannel().getConnectivityState(true)
      if (state === connectivityState.READY) return candidate
      if (state !== connectivityState.TRANSIENT_FAILURE) hopeful ??= candidate
    }
    return hopeful ?? this.#preferred
  }

  #troubled(error: unknown): void {
    const before = this.#trouble
    this.#trouble = describeFailure(error, this.endpoints)
    if (before === undefined) this.#watchHealth()
  }

  /** Detects without requests that etcd is unreachable, and that it is reachable again. */
  #watchHealth(): void {
    clearTimeout(this.#healthTimer)
    if (this.#closed) return
    const wait = this.#trouble === undefined ? healthyIntervalMs : troubledIntervalMs
    this.#healthTimer = setTimeout(() => {
      const deadline = Date.now() + Math.min(this.#healthDeadlineMs, this.#deadlineMs)
      const probing = this.#track(this.#tryEach(methods.range, this.#probe, isAway, deadline, true))
      // Any error counts: if this read is forbidden, all requests are.
      probing.catch((error) => this.#troubled(error)).finally(() => this.#watchHealth())
    }, wait)
    this.#healthTimer.unref()
  }
}

function clientOf(url: URL, tls: TlsOptions): Client {
  if (url.protocol === 'http:') {
    return new Client(url.host, credentials.createInsecure(), channelOptions)
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const secure = secureCredentials(tls, host)
  if (isIP(host) === 0) return new Client(url.host, secure, channelOptions)
  // TLS has no server name for an IP address, so a placeholder is sent; the certificate must
  // contain the address.
  return new Client(url.host, secure, {
    ...channelOptions,
    'grpc.ssl_target_name_override': 'etcd',
  })
}

function parse(endpoint: string): URL {
  const url = URL.parse(endpoint.includes('://') ? endpoint : `http://${endpoint}`)
  const known = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!url || !known || url.hostname === '') {
    throw new StorageUnavailable(
      `${endpoint} names no etcd server; http://host:port and https://host:port do`,
    )
  }
  return url
}

function secureCredentials(tls: TlsOptions, host: string): ChannelCredentials {
  const read = (file: string | undefined) => (file === undefined ? undefined : readPem(file))
  const context = createSecureContext({
    ca: read(tls.cafile),
    key: read(tls.keyfile),
    cert: read(tls.certfile),
    // As in Go, a trusted certificate need not be a root.
    allowPartialTrustChain: true,
  })
  return credentials.createFromSecureContext(context, {
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  })
}

function readPem(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new StorageUnavailable(`${file} cannot be read: ${(error as Error).message}`)
  }
}

function same(bytes: Buffer): Buffer {
  return bytes
}
