/**
 * HTTP/1.1 connections: Node's HTTP server gets each socket from the listener. Loaded with the
 * first of them. A request that the parser rejects gets 400 and the connection is closed. Unknown
 * methods are passed on.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { http } from '#base/node-http.ts'
import { wireOfUpgrade } from '#http/connect/upgrade-wire.ts'
import type { Wire } from '#http/exchange.ts'
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

/** Header bytes per request: enough for a large token, too few to do harm. */
const headerBytesMax = 64 * 1024
/**
 * How long a connection may wait for a complete request. It exceeds the keep-alive time between two
 * requests.
 */
const requestAwaitedMsMax = 90_000
const keepAliveMs = 75_000
/**
 * How long bytes of a rejected client are discarded. If the socket closed earlier, the client would
 * get a reset and not the response.
 */
const unreadMsMax = 1000

export interface Http1Options {
  readonly handle: (wire: Wire) => void
  /** Handles HTTP/1.1 upgrades: exec, attach, port-forward, aggregated watches. */
  readonly upgrade: (wire: Wire) => void
  /** Whether the path and query as sent support an upgrade; elsewhere it is an ordinary request. */
  readonly upgradesAt: (url: string) => boolean
  /** Overrides how long a connection may wait for a complete request. */
  readonly requestAwaitedMs?: number
}

export class Http1Connections {
  readonly #options: Http1Options
  readonly #server
  /**
   * The number of running requests per socket. Node tracks idle connections only for servers that
   * listen, and here the TLS server listens.
   */
  readonly #runningOn = new Map<Socket, number>()
  /** The timers for incomplete headers, which Node also checks only for servers that listen. */
  readonly #awaited = new Map<Socket, NodeJS.Timeout>()
  readonly #lastOn = new WeakMap<Socket, IncomingMessage>()
  /** Rejections to send after the running responses, on sockets that cannot be parsed further. */
  readonly #refusedNext = new WeakMap<Socket, Http1Rejection>()
  readonly #announced = new WeakSet<Socket>()
  readonly #paused = new PausedParsers()
  #draining = false

  constructor(options: Http1Options) {
    this.#options = options
    this.#server = http.createServer({
      maxHeaderSize: headerBytesMax,
      requestTimeout: 0,
      requireHostHeader: false,
      keepAliveTimeout: keepAliveMs,
      shouldUpgradeCallback: ({ url }) => options.upgradesAt(url as string),
    })
    // No limit of their number, because their bytes are limited.
    this.#server.maxHeadersCount = 0
    this.#server.on('request', (request, response) => this.#serve(request, response))
    // `100 Continue` is sent only when a handler reads the body, so a rejected client need not send
    // it.
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

  /** Closes each connection when its requests are done. */
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

  /** The parser may repeat its error for the following bytes. */
  #refuse(error: ParserError, socket: Socket): void {
    if (this.#paused.takes(error, socket)) return
    if (this.#announced.has(socket)) return
    if (!socket.writable) return void socket.destroy()
    const refusal = error.code === 'HPE_HEADER_OVERFLOW' ? headTooLong : unreadable
    // The rejection follows the responses to earlier requests, unless the last of these is the
    // unreadable one.
    if (this.#runningOn.get(socket) && this.#lastOn.get(socket)?.complete !== false)
      return void this.#refusedNext.set(socket, refusal)
    const unknown = unknownMethodRequest(error, socket)
    if (unknown === undefined) return void this.#sendRejection(refusal, socket)
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
    if (refusal !== undefined && socket.writable) this.#sendRejection(refusal, socket)
  }

  /** Sends the rejection, and closes the connection when the client had time to read it. */
  #sendRejection(refusal: Http1Rejection, socket: Socket): void {
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
