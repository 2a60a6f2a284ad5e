/**
 * Sends the frames of one HTTP/2 connection: control frames at once, bodies within the client's
 * flow-control windows. All frames of one turn of the event loop leave in one write, unless a
 * caller flushes earlier. It knows nothing about requests.
 */
import type { TLSSocket } from 'node:tls'
import { runInWritePhase } from '#base/event-loop-phases.ts'
import {
  flag,
  frameHeadBytes,
  frameType,
  payloadBytesMax,
  windowBytesInitial,
  windowBytesMax,
  writeFrameHead,
} from './frames.ts'
import { releaseMemory, acquireMemory, writeBytesMax } from './write-memory.ts'
import { waitingBytesMax } from './limits.ts'

/** The sending half of a stream. */
export interface Outgoing {
  readonly id: number
  /** The stream's flow-control window: bytes that the client still accepts. */
  window: number
  readonly pieces: Buffer[]
  /** How many bytes of the first piece have been sent. */
  firstPieceSentBytes: number
  queuedBytes: number
  /** Set by the sender: whether the stream is in the queue of streams with data to send. */
  isQueued: boolean
  /**
   * Set by the sender: the number of consecutive checks at which the short rest of this stream was
   * still waiting.
   */
  heldChecks: number
  /** No data follows the queued data. */
  ended: boolean
  /** Called after some of its bytes were sent. */
  sent(): void
}

/**
 * The payload of a DATA frame that fills one TLS record, so that a client gets each frame in one
 * record. Full frames are sent first. Shorter frames wait until the client has read enough or all
 * of them fit; meanwhile they may grow.
 */
const recordPayloadBytes = 16_384 - frameHeadBytes
/** Bytes that one stream may send before the next stream has its turn: whole frames. */
const turnBytesMax = 4 * recordPayloadBytes
/**
 * With this much window, the client keeps up: clients that update at half their window leave no
 * less.
 */
const roomBytesMin = 32 * 1024
/**
 * How often waiting streams are checked. A stream that waited at two checks is sent first, because
 * clients may send small window updates late.
 */
const lookMs = 10
const heldChecksMax = 2
/**
 * After this many checks without a sent body, send the rest: the client may wait for it before it
 * updates its window.
 */
const idleChecksMax = 5
/**
 * An unused window of this size is worth a short frame: on slow links the window is the bottleneck.
 */
const unusedBytesMin = 2048

export class Sender {
  readonly #socket: TLSSocket
  #frames: Buffer[] = []
  #framesBytes = 0
  #window = windowBytesInitial
  /** Streams with data to send, in order. */
  #line: Outgoing[] = []
  #full = false
  #scheduled = false
  /** Runs while short frames wait. */
  #look: NodeJS.Timeout | undefined
  /** The number of consecutive checks before which no body was sent. */
  #idleChecks = 0
  /** The smallest connection window since the last check. */
  #unusedBytes = 0
  #isOverdue = false
  #emptied: (() => void) | undefined

  constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('drain', () => {
      this.#full = false
      this.flush()
      this.#notifyEmptied()
    })
  }

  frame(bytes: Buffer): void {
    this.#frames.push(bytes)
    this.#framesBytes += bytes.length
    if (this.#framesBytes > waitingBytesMax && this.#full) this.#socket.destroy()
    this.#schedule()
  }

  /** Sends a header block (latin1) in as many frames as it needs. */
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

  /** Sends a small response as one buffer; returns false if it does not fit now. */
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

  /** The stream has data to send, or its end. */
  send(stream: Outgoing): void {
    if (!stream.isQueued) {
      stream.isQueued = true
      this.#line.push(stream)
    }
    // Only an empty DATA frame with END_STREAM needs no window.
    if (this.#window > 0 || stream.queuedBytes === 0) this.#schedule()
  }

  /** Calls back once, when no control frame waits for the socket; bodies may still wait. */
  whenEmpty(onEmpty: () => void): void {
    this.#emptied = onEmpty
    this.#notifyEmptied()
  }

  #notifyEmptied(): void {
    if (this.#frames.length > 0) return
    this.#emptied?.()
    this.#emptied = undefined
  }

  forget(stream: Outgoing): void {
    if (!stream.isQueued) return
    stream.isQueued = false
    this.#line.splice(this.#line.indexOf(stream), 1)
  }

  /** Enlarges the connection window; returns false if it exceeds the limit of HTTP/2. */
  grow(bytes: number): boolean {
    this.#window += bytes
    if (this.#line.length > 0) this.#schedule()
    return this.#window <= windowBytesMax
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    runInWritePhase(this.#flushScheduled)
  }

  #flushScheduled = (): void => this.flush()

  /** Writes everything that can be sent now. */
  flush(): void {
    this.#scheduled = false
    if (this.#full || this.#socket.destroyed) return
    const frames = this.#frames
    const room = writeBytesMax - this.#framesBytes
    const bodyBytesMax = this.#line.length === 0 || room <= 0 ? 0 : this.#bodyBytesMax(room)
    if (bodyBytesMax === 0 && frames.length <= 1) return void this.#writeFrame(frames[0])
    const memory = acquireMemory(this.#framesBytes + bodyBytesMax)
    let end = 0
    for (const frame of frames) {
      memory.set(frame, end)
      end += frame.length
    }
    this.#frames = []
    this.#framesBytes = 0
    const served = new Set<Outgoing>()
    if (bodyBytesMax > 0) end = this.#takeBodies(memory, end, end + room, served)
    this.#write(memory, end)
    // Only after the write, because the last callback may close the connection.
    for (const stream of served) stream.sent()
  }

  #writeFrame(frame: Buffer | undefined): void {
    if (frame === undefined) return
    this.#frames = []
    this.#framesBytes = 0
    this.#full = !this.#socket.write(frame)
  }

  #write(memory: Buffer, end: number): void {
    if (end === 0) return void releaseMemory(memory)
    this.#full = !this.#socket.write(memory.subarray(0, end), () => releaseMemory(memory))
    if (end >= writeBytesMax && !this.#full) this.#schedule()
  }

  /** An upper limit for the bytes of all body frames, including their heads. */
  #bodyBytesMax(wanted: number): number {
    const most = Math.min(wanted + turnBytesMax, Math.max(0, this.#window))
    let bytes = 0
    for (let i = 0; i < this.#line.length; i++) {
      const { queuedBytes, window } = this.#line[i] as Outgoing
      bytes += Math.min(queuedBytes, Math.max(0, window))
    }
    bytes = Math.min(bytes, most)
    // Full frames, and one shorter frame for each stream.
    const frameCount = Math.ceil(bytes / recordPayloadBytes) + this.#line.length + 1
    return bytes + frameCount * frameHeadBytes
  }

  /**
   * Sends overdue bodies first, then full records, then the rest if allowed. Adds the streams that
   * sent to `served`; returns the end in `memory`.
   */
  #takeBodies(memory: Buffer, from: number, enough: number, served: Set<Outgoing>): number {
    let at = from
    if (this.#isOverdue) {
      at = this.#takeTurns(memory, at, enough, served, 1, heldChecksMax)
      this.#isOverdue = this.#window <= 0 || at >= enough
    }
    at = this.#takeTurns(memory, at, enough, served, recordPayloadBytes)
    if (this.#window >= roomBytesMin || this.#restFits())
      at = this.#takeTurns(memory, at, enough, served, 1)
    if (at > from) this.#idleChecks = -1
    this.#unusedBytes = Math.min(this.#unusedBytes, this.#window)
    this.#lookSoon()
    return at
  }

  #lookSoon(): void {
    const holdsBack = this.#window > 0 ? this.#line.length > 0 : this.#line.some(isShort)
    if (holdsBack) this.#look ??= setTimeout(this.#lookAtHeld, lookMs).unref()
  }

  #lookAtHeld = (): void => {
    this.#look = undefined
    const isStuck = ++this.#idleChecks >= idleChecksMax
    const isWasted = isStuck || this.#unusedBytes >= unusedBytesMin
    this.#unusedBytes = this.#window
    for (const stream of this.#line) {
      // Full records wait only for the client's window.
      if (isShort(stream)) stream.heldChecks++
      if (stream.heldChecks >= heldChecksMax) this.#isOverdue = true
    }
    const [first] = this.#line
    if (isWasted && first !== undefined) {
      first.heldChecks = heldChecksMax
      this.#isOverdue = true
    }
    if (this.#isOverdue && this.#window > 0) this.flush()
    // A client that reads nothing is not checked again until it reads.
    else if (!isStuck) this.#lookSoon()
  }

  /** Whether all queued bodies fit in the connection window. */
  #restFits(): boolean {
    let bytes = 0
    for (const { queuedBytes } of this.#line) bytes += queuedBytes
    return bytes <= this.#window
  }

  /**
   * Gives each stream a turn that has a frame of at least `bytesMin` bytes and waited at
   * `heldChecksMin` checks. Stops at `enough` bytes. Returns the end in `memory`.
   */
  #takeTurns(
    memory: Buffer,
    from: number,
    enough: number,
    served: Set<Outgoing>,
    bytesMin: number,
    heldChecksMin = 0,
  ): number {
    const line = this.#line
    let at = from
    let waitingCount = 0
    let next = 0
    for (; next < line.length && at < enough; next++) {
      const stream = line[next] as Outgoing
      if (stream.heldChecks < heldChecksMin) {
        line[waitingCount++] = stream
        continue
      }
      const end = this.#take(stream, memory, at, bytesMin)
      const hasSent = end > at
      at = end
      if (hasSent) served.add(stream)
      // A stream without window joins the queue again when the client enlarges it.
      stream.isQueued = stream.queuedBytes > 0 && stream.window > 0
      if (!stream.isQueued) {
        stream.heldChecks = 0
        continue
      }
      // A stream that had its turn moves to the end of the queue. A stream that waits, or was cut
      // short, keeps its place.
      const hadTurn = hasSent && (this.#window > 0 || !isShort(stream))
      if (hadTurn) {
        stream.heldChecks = 0
        line.push(stream)
      } else line[waitingCount++] = stream
    }
    line.splice(waitingCount, next - waitingCount)
    return at
  }

  /**
   * Sends the next frames of one stream; only the last frame may be shorter than `bytesMin`.
   * Returns their end.
   */
  #take(stream: Outgoing, memory: Buffer, from: number, bytesMin: number): number {
    let at = from
    for (let left = turnBytesMax; left > 0; ) {
      const room = Math.max(0, Math.min(recordPayloadBytes, stream.window, this.#window, left))
      const payload = Math.min(stream.queuedBytes, room)
      const last = stream.ended && payload === stream.queuedBytes
      if (payload < bytesMin && !last) break
      const flags = last ? flag.endStream : 0
      writeFrameHead(memory, at, payload, frameType.data, flags, stream.id)
      at += frameHeadBytes
      takePieces(stream, payload, memory, at)
      at += payload
      stream.window -= payload
      this.#window -= payload
      left -= payload
      if (last || stream.queuedBytes === 0) break
    }
    return at
  }
}

/** Whether the rest of the stream is shorter than a record. */
const isShort = ({ queuedBytes }: Outgoing) => queuedBytes < recordPayloadBytes

function takePieces(stream: Outgoing, bytes: number, memory: Buffer, from: number): void {
  stream.queuedBytes -= bytes
  const { pieces } = stream
  const end = from + bytes
  let whole = 0
  for (let at = from; at < end; ) {
    const piece = pieces[whole] as Buffer
    const taken = Math.min(piece.length - stream.firstPieceSentBytes, end - at)
    const sent = stream.firstPieceSentBytes + taken
    memory.set(
      taken === piece.length ? piece : piece.subarray(stream.firstPieceSentBytes, sent),
      at,
    )
    at += taken
    const isWhole = sent === piece.length
    stream.firstPieceSentBytes = isWhole ? 0 : sent
    if (isWhole) whole++
  }
  if (whole === pieces.length) pieces.length = 0
  else if (whole > 0) pieces.splice(0, whole)
}
