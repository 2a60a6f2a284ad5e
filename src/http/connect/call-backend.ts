/**
 * One request to a backend, up to the beginning of its answer. Redirects are never followed. When
 * the client goes away the call ends too.
 */
import http from 'node:http'
import https from 'node:https'
import type { TLSSocket } from 'node:tls'
import {
  agentOf,
  type Backend,
  connectTimeoutOf,
  placeOf,
  serverNameOf,
  type Trust,
  tlsOptionsOf,
} from './backend.ts'
import { framedHeaders, type PassedBody, sendBody } from './body-framing.ts'
import { networkWords } from './network-words.ts'
import type { PassedHeaders } from './passed-headers.ts'

export interface BackendCall {
  readonly backend: Backend
  readonly method: string
  /** Path and query, encoded. */
  readonly path: string
  readonly headers: PassedHeaders
  readonly body?: PassedBody
  readonly signal: AbortSignal
  /** How long until the answer must begin; without end where undefined. */
  readonly answerTimeoutMs?: number | undefined
}

/** The backend cannot be reached or does not answer; the words say why. */
export class BackendUnreachable extends Error {
  override name = 'BackendUnreachable'
  /** Whether there was a connection. */
  readonly connected: boolean

  constructor(words: string, connected = false) {
    super(words)
    this.connected = connected
  }
}

type Began =
  | { is: 'answer'; answer: http.IncomingMessage }
  | {
      is: 'upgrade'
      answer: http.IncomingMessage
      socket: import('node:stream').Duplex
      head: Buffer
    }

/**
 * The answer of an ordinary request. A kept connection that turned out dead is tried again once,
 * where nothing is lost by it.
 */
export async function callBackend(call: BackendCall): Promise<http.IncomingMessage> {
  const repeatable = call.body === undefined || Buffer.isBuffer(call.body)
  const first = await begin(call, false, repeatable)
  return (first ?? ((await begin(call, false, false)) as Began)).answer
}

/**
 * The answer to a request to leave HTTP, by a connection of its own: the other protocol's
 * connection, or a refusal.
 */
export async function callForUpgrade(call: BackendCall): Promise<Began> {
  return (await begin(call, true, false)) as Began
}

const neverConnected = 'net/http: request canceled while waiting for connection'

function requestOptions(call: BackendCall, upgrading: boolean): https.RequestOptions {
  const { backend, method, path, headers, body, signal } = call
  return {
    host: backend.host,
    port: backend.port,
    method,
    path,
    headers: framedHeaders(method, headers, body),
    signal,
    setDefaultHeaders: false,
    ...(backend.lookup !== undefined && { lookup: backend.lookup }),
    ...(backend.secure && { servername: serverNameOf(backend) }),
    ...(upgrading
      ? { agent: false as const, ...(backend.secure && tlsOptionsOf(backend.trust)) }
      : { agent: agentOf(backend) }),
  }
}

/** Undefined: the kept connection was dead, and the call may be made again. */
function begin(call: BackendCall, upgrading: boolean, again: boolean): Promise<Began | undefined> {
  const { backend, body, signal } = call
  // Port 0 is no address, and Node would replace it with the port of the protocol.
  if (backend.port === 0) {
    const words = `dial tcp ${placeOf(backend)}: connect: connection refused`
    return Promise.reject(new BackendUnreachable(words))
  }
  const options = requestOptions(call, upgrading)
  return new Promise((resolve, reject) => {
    let ready = false
    const outgoing = backend.secure ? https.request(options) : http.request(options)
    const fail = (words: string) => {
      clearTimeout(answerTimer)
      reject(new BackendUnreachable(words, ready))
    }
    const answerTimer =
      call.answerTimeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            fail('context deadline exceeded')
            outgoing.destroy()
          }, call.answerTimeoutMs)
    outgoing.on('socket', (socket) => {
      ready = !socket.connecting
      if (ready) return
      const timer = setTimeout(() => {
        fail(`dial tcp ${placeOf(backend)}: i/o timeout`)
        outgoing.destroy()
      }, connectTimeoutOf(backend.trust))
      socket.once(backend.secure ? 'secureConnect' : 'connect', () => {
        ready = true
        clearTimeout(timer)
      })
      socket.once('close', () => clearTimeout(timer))
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(answerTimer)
      if (again && outgoing.reusedSocket && error.code === 'ECONNRESET') resolve(undefined)
      else if (signal.aborted) fail(ready ? 'context deadline exceeded' : neverConnected)
      else fail(networkWords(error, placeOf(backend)))
    })
    outgoing.on('response', (answer) => {
      clearTimeout(answerTimer)
      countUnnamed(backend.trust, answer.socket)
      resolve({ is: 'answer', answer })
    })
    // Without a listener, Node would silently end the connection.
    outgoing.on('upgrade', (answer, socket, head) => {
      if (upgrading) {
        clearTimeout(answerTimer)
        return resolve({ is: 'upgrade', answer, socket, head })
      }
      socket.destroy()
      const to = JSON.stringify(answer.headers.upgrade ?? '')
      fail(`backend tried to switch protocol ${to} when "" was requested`)
    })
    sendBody(outgoing, body)
  })
}

const named = new WeakMap<object, boolean>()

/** If a certificate is not verified, a server without a name in it is counted with each answer. */
function countUnnamed({ unnamed, insecure }: Trust, socket: object): void {
  if (unnamed === undefined || !insecure) return
  let isNamed = named.get(socket)
  if (isNamed === undefined) {
    isNamed = !isTls(socket) || socket.getPeerCertificate().subjectaltname !== undefined
    named.set(socket, isNamed)
  }
  if (!isNamed) unnamed.count++
}

const isTls = (socket: object): socket is TLSSocket => 'getPeerCertificate' in socket
