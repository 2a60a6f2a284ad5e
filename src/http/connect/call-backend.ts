/**
 * Sends one request to a backend and returns when its response begins. Redirects are not followed.
 * The call is aborted when the client disconnects.
 */
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import type { TLSSocket } from 'node:tls'
import { http } from '#base/node-http.ts'
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
  /** The time limit for the start of the response; no limit if undefined. */
  readonly answerTimeoutMs?: number | undefined
}

/** The backend cannot be reached or does not respond; the message is the reason. */
export class BackendUnreachable extends Error {
  override name = 'BackendUnreachable'
  /** Whether a connection was established. */
  readonly connected: boolean

  constructor(words: string, connected = false) {
    super(words)
    this.connected = connected
  }
}

type Began =
  | { is: 'answer'; answer: IncomingMessage }
  | {
      is: 'upgrade'
      answer: IncomingMessage
      socket: import('node:stream').Duplex
      head: Buffer
    }

/**
 * Sends an ordinary request. If a pooled connection turns out to be closed, a repeatable request is
 * sent once more.
 */
export async function callBackend(call: BackendCall): Promise<IncomingMessage> {
  const repeatable = call.body === undefined || Buffer.isBuffer(call.body)
  const first = await begin(call, false, repeatable)
  return (first ?? ((await begin(call, false, false)) as Began)).answer
}

/**
 * Requests an upgrade on a new connection; returns the upgraded connection or the backend's
 * rejection.
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

/** Undefined if the pooled connection was closed; the call may be repeated. */
function begin(call: BackendCall, upgrading: boolean, again: boolean): Promise<Began | undefined> {
  const { backend, body, signal } = call
  // Node would replace port 0 by the protocol's default port.
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
    // Without this listener, Node would silently close the connection.
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

/**
 * If the certificate is not verified, a server certificate without alternative names is counted
 * with each response.
 */
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
