/**
 * HTTP/1.1 on the connections that speak it: Node's own server, given each socket by the listener.
 * Loaded with the first of them. What the parser refuses is answered with 400 and closed, but for
 * methods it does not know.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { wireOfUpgrade } from './connect/upgrade-wire.ts'
import type { Wire } from './exchange.ts'
import {
  headTooLong,
  type Http1Rejection,
  refusalOf,
  refusalText,
  refuse,
  unreadable,
} from './http1-refusal.ts'
import { type ParserError, unknownMethodRequest } from './http1-unknown-method.ts'
import { wireOfHttp1 } from './http1-wire.ts'
import { PausedParsers } from './paused-parser.ts'

/** Header bytes of one request: room for a large token, too little to hurt. */
const headerBytesMax = 64 * 1024
/**
 * How long a connection may be open without a complete request: longer than one is kept alive
 * between two of them.
 */
const requestAwaitedMsMax = 90_000
const keepAliveMs = 75_000
/**
 * How long what a refused client still sends is thrown away: closed before that, its connection is
 * reset, and it never reads why.
 */
const unreadMsMax = 1000

export interface Http1Options {
  readonly handle: (wire: Wire) => void
  /** An HTTP/1.1 upgrade: exec, attach, port-forward, aggregated watches. */
  readonly upgrade: (wire: Wire) => void
  /**
   * Whether what is at this address, path and query as sent, can leave HTTP; elsewhere an upgrade
   * is an ordinary request.
   */
  readonly upgradesAt: (url: string) => boolean
  /** How long a connection may be open without a complete request; the usual time where unset. */
  readonly requestAwaitedMs?: number
}

export class Http1Connections {
  readonly #options: Http1Options
  readonly #server
  /**
   * Node lists idle connections only for servers that listen themselves, and here the TLS server
   * listens.
   */
  readonly #runningOn = new Map<Socket, number>()
  /** Nor does it check there for clients that never finish their headers. */
  readonly #awaited = new Map<Socket, NodeJS.Timeout>()
  readonly #lastOn = new WeakMap<Socket, IncomingMessage>()
  /** The rejection to send after the answers that are under way, where nothing more can be read. */
  readonly #refusedNext = new WeakMap<Socket, Http1Rejection>()
  readonly #announced = new WeakSet<Socket>()
  readonly #paused = new PausedParsers()
  #draining = false

  constructor(options: Http1Options) {
    this.#options = options
    this.#server = createServer({
      maxHeaderSize: headerBytesMax,
      requestTimeout: 0,
      requireHostHeader: false,
      keepAliveTimeout: keepAliveMs,
      shouldUpgradeCallback: ({ url }) => options.upgradesAt(url as string),
    })
    // However many: their bytes are counted.
    this.#server.maxHeadersCount = 0
    this.#server.on('request', (request, response) => this.#serve(request, response))
    // A client that waits for `100 Continue` gets it when its body is read: a rejected one need not
    // send it.
    this.#server.on('checkContinue', (request, response) => this.#serve(request, response, true))
    this.#server.on('upgrade', (request, socket, head) => {
      this.#runningOn.delete(request.socket)
      this.#noLongerAwait(request.socket)
      socket.on('error', () => {})
      options.upgrade(wireOfUpgrade(request, socket, head))
    })
    this.#server.on('clientError', (error, socket) => this.#refuse(error, socket as Socket))
  }

  take(socket: Socket): void {
    this.#runningOn.set(socket, 0)
    this.#await(socket)
    socket.on('close', () => {
      this.#runningOn.delete(socket)
      this.#noLongerAwait(socket)
    })
    this.#server.emit('connection', socket)
  }

  /** Connections end once their requests are done. */
  drain(): void {
    this.#draining = true
    for (const [socket, running] of this.#runningOn) if (running === 0) socket.destroySoon()
  }

  #serve(request: IncomingMessage, response: ServerResponse, asksFirst = false): void {
    const { socket } = request
    this.#begun(socket)
    this.#lastOn.set(socket, request)
    response.once('close', () => this.#ended(socket))
    const refusal = refusalOf(request)
    if (refusal !== undefined) refuse(response, refusal)
    else this.#options.handle(wireOfHttp1(request, response, asksFirst))
  }

  /** The parser says it again with whatever comes after that. */
  #refuse(error: ParserError, socket: Socket): void {
    if (this.#paused.takes(error, socket)) return
    if (this.#announced.has(socket)) return
    if (!socket.writable) return void socket.destroy()
    const refusal = error.code === 'HPE_HEADER_OVERFLOW' ? headTooLong : unreadable
    // It is refused after what came before it is answered, unless that is what cannot be read.
    if (this.#runningOn.get(socket) && this.#lastOn.get(socket)?.complete !== false)
      return void this.#refusedNext.set(socket, refusal)
    const unknown = unknownMethodRequest(error, socket)
    if (unknown === undefined) return void this.#tell(refusal, socket)
    const { request, response } = unknown
    this.#begun(socket)
    response.once('finish', () => this.#ended(socket))
    this.#options.handle(wireOfHttp1(request, response))
  }

  #begun(socket: Socket): void {
    this.#noLongerAwait(socket)
    this.#runningOn.set(socket, (this.#runningOn.get(socket) ?? 0) + 1)
  }

  #ended(socket: Socket): void {
    this.#paused.goOn(socket)
    const left = (this.#runningOn.get(socket) ?? 1) - 1
    if (this.#runningOn.has(socket)) this.#runningOn.set(socket, left)
    if (left > 0 || socket.destroyed) return
    if (this.#draining) return void socket.destroySoon()
    this.#await(socket)
    const refusal = this.#refusedNext.get(socket)
    if (refusal !== undefined && socket.writable) this.#tell(refusal, socket)
  }

  /** The end of the connection, once its client has had time to read why. */
  #tell(refusal: Http1Rejection, socket: Socket): void {
    this.#announced.add(socket)
    socket.end(refusalText(refusal))
    setTimeout(() => socket.destroy(), unreadMsMax).unref()
  }

  #await(socket: Socket): void {
    clearTimeout(this.#awaited.get(socket))
    const awaitedMs = this.#options.requestAwaitedMs ?? requestAwaitedMsMax
    this.#awaited.set(socket, setTimeout(() => socket.destroy(), awaitedMs).unref())
  }

  #noLongerAwait(socket: Socket): void {
    clearTimeout(this.#awaited.get(socket))
    this.#awaited.delete(socket)
  }
}
