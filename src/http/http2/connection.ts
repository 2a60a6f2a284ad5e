/**
 * One HTTP/2 connection of a client (RFC 9113). Its bytes become frames, its frames streams, its
 * streams requests. It replaces Node's HTTP/2 server because a request costs a third and an event
 * to a watcher a tenth (docs/decisions/http2-by-hand.md). A client's protocol error ends only its
 * stream or its connection.
 */
import type { TLSSocket } from 'node:tls'
import { certificatesOf } from '#http/connections/client-certificates.ts'
import type { ClientCertificates, Wire } from '#http/exchange.ts'
import {
  ConnectionError,
  errorCode,
  flag,
  frameSizeError,
  frameType,
  goAwayFrame,
  payloadBytesMax,
  pingAckFrame,
  protocolError,
  resetFrame,
  setting,
  settingsAckFrame,
  settingsFrame,
  windowBytesInitial,
  windowBytesMax,
  windowUpdateFrame,
} from './frames.ts'
import { FrameReader, unpadded } from './frame-reader.ts'
import { type HeaderBlock, HeaderBlocks, requireOther } from './header-blocks.ts'
import { FrameAllowance } from './frame-allowance.ts'
import { readDirectly } from './read-directly.ts'
import { areTrailers } from './request-head.ts'
import { Sender } from './sender.ts'
import { Http2Stream, type StreamHost } from './stream.ts'
import {
  connectionWindowBytes,
  endingMsMax,
  headerBytesMax,
  idleMsMin,
  prefaceMsMax,
  refusedRememberedMax,
  streamsMaxUsual,
  streamWindowBytes,
} from './limits.ts'

export interface Http2Options {
  readonly handle: (wire: Wire) => void
  readonly prefaceMs?: number
  /** Concurrent requests per connection. */
  readonly streamsMax?: number
}

export class Http2Connection implements StreamHost {
  readonly sender: Sender
  readonly #socket: TLSSocket
  readonly #handle: (wire: Wire) => void
  readonly #streamsMax: number
  readonly #streams = new Map<number, Http2Stream>()
  readonly #blocks = new HeaderBlocks()
  readonly #frames = new FrameReader((type, flags, id, payload) =>
    this.#frame(type, flags, id, payload),
  )
  readonly #allowance = new FrameAllowance()
  /** Streams that this server reset; the client may not know it yet and send more frames. */
  readonly #reset = new Set<number>()
  #settled = false
  #lastStream = 0
  /** `#lastStream` at the previous check for idle connections. */
  #lastStreamSeen = -1
  #streamWindow = windowBytesInitial
  #ungrantedBytes = 0
  #closing = false
  #failed = false
  #ending: NodeJS.Timeout | undefined
  /** Requests found in the current read; they are handled after all its bytes are parsed. */
  #arrived: Http2Stream[] = []
  #certificates: { readonly found: ClientCertificates | undefined } | undefined

  constructor(socket: TLSSocket, options: Http2Options) {
    this.#socket = socket
    this.#handle = options.handle
    this.#streamsMax = options.streamsMax ?? streamsMaxUsual
    this.sender = new Sender(socket)
    const silent = setTimeout(() => socket.destroy(), options.prefaceMs ?? prefaceMsMax).unref()
    readDirectly(socket, (bytes) => {
      this.#read(bytes)
      if (this.#settled) clearTimeout(silent)
    })
    const idle = setInterval(() => this.#endIfUnused(), idleMsMin).unref()
    socket.on('close', () => {
      clearTimeout(silent)
      clearInterval(idle)
      clearTimeout(this.#ending)
      for (const stream of [...this.#streams.values()]) this.#drop(stream)
    })
    this.sender.frame(
      settingsFrame([
        [setting.concurrentStreamsMax, this.#streamsMax],
        [setting.initialWindowSize, streamWindowBytes],
        [setting.headerListSizeMax, headerBytesMax],
      ]),
    )
    this.sender.frame(windowUpdateFrame(0, connectionWindowBytes - windowBytesInitial))
  }

  /** Accepts no new requests, and closes after the current ones. */
  close(): void {
    if (this.#closing) return
    this.#closing = true
    this.sender.frame(goAwayFrame(this.#lastStream, errorCode.none))
    this.#endIfIdle()
  }

  /** Closes the connection if it has had no request since the last check. */
  #endIfUnused(): void {
    if (this.#streams.size === 0 && this.#lastStream === this.#lastStreamSeen) this.close()
    this.#lastStreamSeen = this.#streams.size === 0 ? this.#lastStream : -1
  }

  isOnly(stream: Http2Stream): boolean {
    return this.#streams.size === 1 && this.#streams.has(stream.id)
  }

  #endIfIdle(): void {
    if (!this.#closing || this.#streams.size > 0) return
    this.sender.flush()
    this.#endSoon()
    this.sender.whenEmpty(() => this.#socket.end())
  }

  /** Limits how long a client can keep a connection that is closing. */
  #endSoon(): void {
    this.#ending ??= setTimeout(() => this.#socket.destroy(), endingMsMax).unref()
  }

  // Bytes.

  #read(bytes: Buffer): void {
    if (this.#failed) return
    try {
      this.#frames.read(bytes)
    } catch (error) {
      this.#fail(error instanceof ConnectionError ? error.code : errorCode.internal)
    }
    const arrived = this.#arrived
    if (arrived.length === 0) return
    this.#arrived = []
    for (const stream of arrived) if (!stream.closed) this.#handle(stream)
  }

  #frame(type: number, flags: number, stream: number, payload: Buffer): void {
    if (!this.#settled && type !== frameType.settings) throw protocolError('settings come first')
    if (this.#blocks.isOpen && type !== frameType.continuation)
      throw protocolError('a header block is not finished')
    if (this.#closing && stream > this.#lastStream && this.#isTooLate(type, payload)) return
    switch (type) {
      case frameType.data:
        this.#data(flags, stream, payload)
        break
      case frameType.headers:
        this.#blockDone(this.#blocks.begin(flags, stream, payload))
        break
      case frameType.continuation:
        this.#blockDone(this.#blocks.goOn(flags, stream, payload))
        break
      case frameType.priority:
        this.#priority(stream, payload)
        break
      case frameType.reset:
        this.#resetByClient(stream, payload)
        break
      case frameType.settings:
        this.#settings(flags, stream, payload)
        break
      case frameType.ping:
        this.#ping(flags, stream, payload)
        break
      case frameType.goAway:
        if (stream !== 0) throw protocolError('goaway belongs to the connection')
        break
      case frameType.windowUpdate:
        this.#windowUpdate(stream, payload)
        break
      case frameType.pushPromise:
        throw protocolError('clients do not push')
      default:
      // Frames of unknown extensions are ignored.
    }
  }

  /**
   * Ignores frames of a request that the client sent before it received GOAWAY. Header blocks must
   * be decoded, and data must be counted for the connection window.
   */
  #isTooLate(type: number, payload: Buffer): boolean {
    if (type === frameType.headers || type === frameType.continuation) return false
    if (type === frameType.data) this.#grantConnection(payload.length)
    return true
  }

  // Requests.

  #blockDone(block: HeaderBlock | undefined): void {
    if (block === undefined) return
    const { stream: id, ended, fields } = block
    const { list, head } = fields
    const known = this.#streams.get(id)
    if (known !== undefined) return void this.#trailers(known, ended, list)
    if (this.#reset.has(id)) return
    if (id <= this.#lastStream)
      throw new ConnectionError(errorCode.streamClosed, 'the stream is closed')
    if (this.#closing) return
    this.#lastStream = id
    if (head === undefined) return void this.#refuseFault(id, errorCode.protocol)
    if (this.#streams.size >= this.#streamsMax)
      return void this.#refuseFault(id, errorCode.refusedStream)
    const state = { receiving: !ended, window: this.#streamWindow }
    const stream = new Http2Stream(this, id, head, state)
    this.#streams.set(id, stream)
    if (ended && !this.#received(stream)) return
    this.#arrived.push(stream)
  }

  #trailers(stream: Http2Stream, ended: boolean, list: readonly string[]): void {
    if (!stream.receiving) return void this.#fault(stream, errorCode.streamClosed)
    if (!ended || !areTrailers(list)) return void this.#fault(stream, errorCode.protocol)
    this.#received(stream)
  }

  #received(stream: Http2Stream): boolean {
    const code = stream.receivedAll()
    if (code !== errorCode.none) this.#fault(stream, code)
    return code === errorCode.none
  }

  #data(flags: number, id: number, payload: Buffer): void {
    if (id === 0 || this.#isIdle(id)) throw protocolError('data of no stream')
    const chunk = unpadded(flags, payload)
    this.#grantConnection(payload.length)
    const stream = this.#streams.get(id)
    const ended = (flags & flag.endStream) !== 0
    if (stream === undefined) {
      if (!this.#reset.has(id)) this.#refuseFault(id, errorCode.streamClosed)
      return
    }
    if (!stream.receiving) return void this.#fault(stream, errorCode.streamClosed)
    if (payload.length > 0) {
      const code = stream.receive(chunk, payload.length)
      if (code !== errorCode.none) return void this.#fault(stream, code)
    }
    if (chunk.length === 0 && !ended) this.#allowance.spend()
    if (ended) this.#received(stream)
  }

  #resetByClient(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw frameSizeError('a reset has 4 bytes')
    if (id === 0 || this.#isIdle(id)) throw protocolError('a reset of no stream')
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    this.#allowance.spend()
    this.#drop(stream)
  }

  #priority(id: number, payload: Buffer): void {
    if (id === 0) throw protocolError('priority of no stream')
    this.#allowance.spend()
    const stream = this.#streams.get(id)
    if (payload.length !== 5) {
      if (stream !== undefined) return void this.#fault(stream, errorCode.frameSize)
      throw frameSizeError('a priority has 5 bytes')
    }
    requireOther(id, payload)
  }

  #isIdle = (id: number) => id % 2 === 0 || id > this.#lastStream

  // The connection.

  #settings(flags: number, id: number, payload: Buffer): void {
    if (id !== 0) throw protocolError('settings belong to the connection')
    const isAck = (flags & flag.ack) !== 0
    if (payload.length % 6 !== 0 || (isAck && payload.length > 0))
      throw frameSizeError('settings have 6 bytes each')
    this.#settled = true
    this.#allowance.spend()
    if (isAck) return
    const windowBefore = this.#streamWindow
    for (let at = 0; at < payload.length; at += 6)
      this.#setting(payload.readUInt16BE(at), payload.readUInt32BE(at + 2))
    // Adjust the streams once per frame, even if the setting is repeated. A frame may contain
    // thousands of settings, and there may be thousands of streams.
    const change = this.#streamWindow - windowBefore
    if (change !== 0) for (const stream of this.#streams.values()) this.#widen(stream, change)
    this.sender.frame(settingsAckFrame)
  }

  #setting(name: number, value: number): void {
    if (name === setting.enablePush && value > 1) throw protocolError('push is on or off')
    if (name === setting.frameSizeMax && (value < payloadBytesMax || value > 0xffffff))
      throw protocolError('a frame size nobody can have')
    if (name !== setting.initialWindowSize) return
    if (value > windowBytesMax)
      throw new ConnectionError(errorCode.flowControl, 'a window is too large')
    this.#streamWindow = value
  }

  #widen(stream: Http2Stream, change: number): void {
    stream.window += change
    if (stream.window > windowBytesMax)
      throw new ConnectionError(errorCode.flowControl, 'a window is too large')
    if (stream.queuedBytes > 0 && stream.window > 0) this.sender.send(stream)
  }

  #ping(flags: number, id: number, payload: Buffer): void {
    if (id !== 0) throw protocolError('pings belong to the connection')
    if (payload.length !== 8) throw frameSizeError('a ping has 8 bytes')
    if ((flags & flag.ack) !== 0) return
    this.#allowance.spend()
    this.sender.frame(pingAckFrame(payload))
  }

  #windowUpdate(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw frameSizeError('a window update has 4 bytes')
    const bytes = payload.readUInt32BE(0) & windowBytesMax
    if (id === 0) {
      if (bytes === 0) throw protocolError('a window grows by something')
      if (!this.sender.grow(bytes))
        throw new ConnectionError(errorCode.flowControl, 'the window is too large')
      return
    }
    if (this.#isIdle(id)) throw protocolError('a window of no stream')
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    if (bytes === 0) return void this.#fault(stream, errorCode.protocol)
    if (stream.window + bytes > windowBytesMax)
      return void this.#fault(stream, errorCode.flowControl)
    this.#widen(stream, bytes)
  }

  #grantConnection(bytes: number): void {
    this.#ungrantedBytes += bytes
    if (this.#ungrantedBytes < connectionWindowBytes / 2) return
    this.sender.frame(windowUpdateFrame(0, this.#ungrantedBytes))
    this.#ungrantedBytes = 0
  }

  #fail(code: number): void {
    this.#failed = true
    this.sender.frame(goAwayFrame(this.#lastStream, code))
    this.sender.flush()
    this.#endSoon()
    this.#socket.destroySoon()
  }

  /** Errors that make us reset streams count like the client's own resets. */
  #fault(stream: Http2Stream, code: number): void {
    this.reset(stream, code)
    this.#allowance.spend()
  }

  #refuseFault(id: number, code: number): void {
    this.#refuse(id, code)
    this.#allowance.spend()
  }

  #refuse(id: number, code: number): void {
    this.#rememberReset(id)
    this.sender.frame(resetFrame(id, code))
  }

  #rememberReset(id: number): void {
    this.#reset.add(id)
    if (this.#reset.size <= this.#streamsMax + refusedRememberedMax) return
    for (const oldest of this.#reset) {
      this.#reset.delete(oldest)
      break
    }
  }

  #drop(stream: Http2Stream): void {
    this.#streams.delete(stream.id)
    stream.close()
    this.#endIfIdle()
  }

  // Methods that streams call.

  get remoteAddress(): string {
    return this.#socket.remoteAddress ?? ''
  }

  clientCertificate(): ClientCertificates | undefined {
    this.#certificates ??= { found: certificatesOf(this.#socket) }
    return this.#certificates.found
  }

  grant(stream: number, bytes: number): void {
    this.sender.frame(windowUpdateFrame(stream, bytes))
  }

  reset(stream: Http2Stream, code: number): void {
    this.#refuse(stream.id, code)
    this.#drop(stream)
  }

  finished(stream: Http2Stream): void {
    if (this.#streams.get(stream.id) === stream) this.#drop(stream)
  }
}
