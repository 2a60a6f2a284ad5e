/**
 * What goes out on one connection: whole frames at once, bodies as far as the client's windows and its reading allow.
 * Everything of one turn of the event loop leaves in one write, unless somebody lets it go sooner. Knows nothing of requests.
 */
import type { TLSSocket } from 'node:tls'
import {
  flag,
  frameHeadBytes,
  frameType,
  payloadBytesMax,
  windowBytesInitial,
  windowBytesMax,
  writeFrameHead,
} from './frames.ts'
import { giveBack, takeMemory, writeBytesMax, writeBytesMin } from './write-memory.ts'

/** The sending half of a stream. */
export interface Outgoing {
  readonly id: number
  /** Bytes the client still takes of this stream. */
  window: number
  readonly pieces: Buffer[]
  /** How much of the first piece is sent. */
  sentOfFirst: number
  queuedBytes: number
  /** Nothing comes after what is queued. */
  ended: boolean
  /** Told after some of its bytes have left. */
  sent(): void
}

/** Payload of a frame that fills a TLS record: a client that reads record by record gets no frame in two pieces. */
const recordPayloadBytes = 16_384 - frameHeadBytes
/** Bytes one stream may send before it is the turn of the next: whole frames. */
const turnBytesMax = 4 * recordPayloadBytes
/** Answers to pings and the like that may wait for a client that does not read. */
const waitingBytesMax = 1024 * 1024

const waiting: Sender[] = []

function flushAll(): void {
  for (const sender of waiting.splice(0)) sender.flush()
}

export class Sender {
  readonly #socket: TLSSocket
  #frames: Buffer[] = []
  #framesBytes = 0
  #window = windowBytesInitial
  /** Streams with something to send, in turn. */
  readonly #sending = new Set<Outgoing>()
  #full = false
  #scheduled = false

  constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('drain', () => {
      this.#full = false
      this.flush()
    })
  }

  frame(bytes: Buffer): void {
    this.#frames.push(bytes)
    this.#framesBytes += bytes.length
    if (this.#framesBytes > waitingBytesMax && this.#full) this.#socket.destroy()
    this.#schedule()
  }

  /** A header block, one character a byte, in as many frames as it needs. */
  head(stream: number, block: string, ended: boolean): void {
    const endFlag = ended ? flag.endStream : 0
    if (block.length <= payloadBytesMax) {
      const frame = Buffer.allocUnsafe(frameHeadBytes + block.length)
      writeFrameHead(frame, 0, block.length, frameType.headers, flag.endHeaders | endFlag, stream)
      frame.write(block, frameHeadBytes, 'latin1')
      return void this.frame(frame)
    }
    for (let from = 0; from < block.length; from += payloadBytesMax) {
      const part = block.slice(from, from + payloadBytesMax)
      const frame = Buffer.allocUnsafe(frameHeadBytes + part.length)
      const type = from === 0 ? frameType.headers : frameType.continuation
      const last = from + payloadBytesMax >= block.length ? flag.endHeaders : 0
      writeFrameHead(frame, 0, part.length, type, last | (from === 0 ? endFlag : 0), stream)
      frame.write(part, frameHeadBytes, 'latin1')
      this.frame(frame)
    }
  }

  /** A whole small answer as one piece of memory; says no where it does not fit at once. */
  whole(stream: Outgoing, block: string, body: Buffer): boolean {
    const size = body.length
    if (size > payloadBytesMax || size > this.#window || size > stream.window) return false
    if (block.length > payloadBytesMax || this.#full) return false
    this.#window -= size
    stream.window -= size
    const headEnd = frameHeadBytes + block.length
    const frames = Buffer.allocUnsafe(headEnd + frameHeadBytes + size)
    writeFrameHead(frames, 0, block.length, frameType.headers, flag.endHeaders, stream.id)
    frames.write(block, frameHeadBytes, 'latin1')
    writeFrameHead(frames, headEnd, size, frameType.data, flag.endStream, stream.id)
    body.copy(frames, headEnd + frameHeadBytes)
    this.frame(frames)
    return true
  }

  /** The stream has bytes to send, or its end. */
  send(stream: Outgoing): void {
    this.#sending.add(stream)
    this.#schedule()
  }

  forget(stream: Outgoing): void {
    this.#sending.delete(stream)
  }

  /** More room on the connection; says no to more than there can be. */
  grow(bytes: number): boolean {
    this.#window += bytes
    if (this.#sending.size > 0) this.#schedule()
    return this.#window <= windowBytesMax
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    if (waiting.length === 0) setImmediate(flushAll)
    waiting.push(this)
  }

  /** Writes what can be written now. */
  flush(): void {
    this.#scheduled = false
    if (this.#full || this.#socket.destroyed) return
    const parts = this.#frames
    let size = this.#framesBytes
    this.#frames = []
    this.#framesBytes = 0
    size += this.#takeTurns(writeBytesMax - size, parts)
    if (size === 0) return
    this.#full = !this.#write(parts, size)
    if (size >= writeBytesMax && !this.#full) this.#schedule()
  }

  /** Large writes are put together in memory that was used before. */
  #write(parts: Buffer[], size: number): boolean {
    const [first] = parts as [Buffer]
    if (parts.length === 1) return this.#socket.write(first)
    const memory = size < writeBytesMin ? undefined : takeMemory(size)
    if (memory === undefined) return this.#socket.write(Buffer.concat(parts, size))
    let at = 0
    for (const part of parts) at += part.copy(memory, at)
    return this.#socket.write(memory.subarray(0, at), () => giveBack(memory))
  }

  /** Each stream in turn, until the bytes are enough or nobody may send more. */
  #takeTurns(bytesMax: number, parts: Buffer[]): number {
    let size = 0
    for (let before = -1; size > before && size < bytesMax; ) {
      before = size
      for (const stream of [...this.#sending]) {
        if (size >= bytesMax) break
        size += this.#take(stream, parts)
      }
    }
    return size
  }

  /** The next frames of one stream, which then goes to the end of the line, or leaves it. */
  #take(stream: Outgoing, parts: Buffer[]): number {
    let size = 0
    this.#sending.delete(stream)
    for (let left = turnBytesMax; left > 0; ) {
      const room = Math.max(0, Math.min(recordPayloadBytes, stream.window, this.#window, left))
      const payload = Math.min(stream.queuedBytes, room)
      const last = stream.ended && payload === stream.queuedBytes
      if (payload === 0 && !last) break
      const head = Buffer.allocUnsafe(frameHeadBytes)
      const flags = last ? flag.endStream : 0
      writeFrameHead(head, 0, payload, frameType.data, flags, stream.id)
      parts.push(head)
      takePieces(stream, payload, parts)
      stream.window -= payload
      this.#window -= payload
      left -= payload
      size += payload + frameHeadBytes
      if (last || stream.queuedBytes === 0) break
    }
    // One whose own window is shut comes back when the client opens it.
    if (stream.queuedBytes > 0 && stream.window > 0) this.#sending.add(stream)
    if (size > 0) stream.sent()
    return size
  }
}

function takePieces(stream: Outgoing, bytes: number, parts: Buffer[]): void {
  stream.queuedBytes -= bytes
  const { pieces } = stream
  let wanted = bytes
  let whole = 0
  while (wanted > 0) {
    const piece = pieces[whole] as Buffer
    const rest = piece.length - stream.sentOfFirst
    const taken = Math.min(rest, wanted)
    parts.push(
      taken === piece.length
        ? piece
        : piece.subarray(stream.sentOfFirst, stream.sentOfFirst + taken),
    )
    wanted -= taken
    stream.sentOfFirst = taken === rest ? 0 : stream.sentOfFirst + taken
    if (taken === rest) whole++
  }
  if (whole > 0) pieces.splice(0, whole)
}
