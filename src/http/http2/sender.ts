/**
 * What goes out on one connection: whole frames at once, bodies as far as the client's windows and
 * its reading allow. Everything of one turn of the event loop leaves in one write, unless a caller
 * flushes sooner. Knows nothing of requests.
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
import { giveBack, takeMemory, writeBytesMax } from './write-memory.ts'

/** The sending half of a stream. */
export interface Outgoing {
  readonly id: number
  /** Bytes the client still takes of this stream. */
  window: number
  readonly pieces: Buffer[]
  /** How much of the first piece is sent. */
  sentOfFirst: number
  queuedBytes: number
  /** Kept by the sender: whether it stands in the line of those with something to send. */
  inLine: boolean
  /**
   * Kept by the sender: at how many looks, one after the other, its rest was short and had not
   * left.
   */
  looksHeld: number
  /** Nothing comes after what is queued. */
  ended: boolean
  /** Called after some of its bytes have left. */
  sent(): void
}

/**
 * Payload of a frame that fills a TLS record: a client that reads record by record gets no frame in
 * two pieces. Such frames go first. Shorter ones go where the client has read enough, or where all
 * of them have room; while it is behind, they would cost it most, and they grow.
 */
const recordPayloadBytes = 16_384 - frameHeadBytes
/** Bytes one stream may send before it is the turn of the next: whole frames. */
const turnBytesMax = 4 * recordPayloadBytes
/**
 * Room that says that a client has read enough: those that give back half a window at a time leave
 * no less.
 */
const roomBytesMin = 32 * 1024
/**
 * How often held-back streams are checked. A stream that was held back at two checks goes first,
 * whatever others have to send: clients may acknowledge late, and little.
 */
const lookMs = 10
const looksHeldMax = 2
/**
 * After so many looks at which nothing had left, the client may wait for the rest of its window as
 * we wait for it.
 */
const looksIdleMax = 5
/**
 * Room left from one look to the next that is worth a frame that fills no record: far away, windows
 * are what is scarce.
 */
const unusedBytesMin = 2048
/** Answers to pings and the like that may wait for a client that does not read. */
const waitingBytesMax = 1024 * 1024

export class Sender {
  readonly #socket: TLSSocket
  #frames: Buffer[] = []
  #framesBytes = 0
  #window = windowBytesInitial
  /** Streams with something to send, in turn. */
  #line: Outgoing[] = []
  #full = false
  #scheduled = false
  /** Runs while short frames are held back. */
  #look: NodeJS.Timeout | undefined
  /** At how many looks, one after the other, no body had left since the one before. */
  #looksIdle = 0
  /** Room that was left at any time since the last look. */
  #unusedBytes = 0
  #isOverdue = false
  #emptied: (() => void) | undefined

  constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('drain', () => {
      this.#full = false
      this.flush()
      this.#tellEmptied()
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
    if (!stream.inLine) {
      stream.inLine = true
      this.#line.push(stream)
    }
    // Only an end needs no window.
    if (this.#window > 0 || stream.queuedBytes === 0) this.#schedule()
  }

  /** Called once, when no frame waits for the socket; bodies may. */
  whenEmpty(onEmpty: () => void): void {
    this.#emptied = onEmpty
    this.#tellEmptied()
  }

  #tellEmptied(): void {
    if (this.#frames.length > 0) return
    this.#emptied?.()
    this.#emptied = undefined
  }

  forget(stream: Outgoing): void {
    if (!stream.inLine) return
    stream.inLine = false
    this.#line.splice(this.#line.indexOf(stream), 1)
  }

  /** More room on the connection; says no to more than there can be. */
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

  /** Writes what can be written now. */
  flush(): void {
    this.#scheduled = false
    if (this.#full || this.#socket.destroyed) return
    const frames = this.#frames
    const room = writeBytesMax - this.#framesBytes
    const bodyBytesMax = this.#line.length === 0 || room <= 0 ? 0 : this.#bodyBytesMax(room)
    if (bodyBytesMax === 0 && frames.length <= 1) return void this.#writeFrame(frames[0])
    const memory = takeMemory(this.#framesBytes + bodyBytesMax)
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
    // Not before it is written: the last one may end the connection.
    for (const stream of served) stream.sent()
  }

  #writeFrame(frame: Buffer | undefined): void {
    if (frame === undefined) return
    this.#frames = []
    this.#framesBytes = 0
    this.#full = !this.#socket.write(frame)
  }

  #write(memory: Buffer, end: number): void {
    if (end === 0) return void giveBack(memory)
    this.#full = !this.#socket.write(memory.subarray(0, end), () => giveBack(memory))
    if (end >= writeBytesMax && !this.#full) this.#schedule()
  }

  /** Bytes that the frames of all bodies may need at most, where so many are wanted. */
  #bodyBytesMax(wanted: number): number {
    const most = Math.min(wanted + turnBytesMax, Math.max(0, this.#window))
    let bytes = 0
    for (let i = 0; i < this.#line.length; i++) {
      const { queuedBytes, window } = this.#line[i] as Outgoing
      bytes += Math.min(queuedBytes, Math.max(0, window))
    }
    bytes = Math.min(bytes, most)
    // Whole frames, and for each stream one that is shorter.
    const frameCount = Math.ceil(bytes / recordPayloadBytes) + this.#line.length + 1
    return bytes + frameCount * frameHeadBytes
  }

  /**
   * First bodies that waited long, then whole records, then the rest if it may go. Adds the senders
   * to `served`; returns the end.
   */
  #takeBodies(memory: Buffer, from: number, enough: number, served: Set<Outgoing>): number {
    let at = from
    if (this.#isOverdue) {
      at = this.#takeTurns(memory, at, enough, served, 1, looksHeldMax)
      this.#isOverdue = this.#window <= 0 || at >= enough
    }
    at = this.#takeTurns(memory, at, enough, served, recordPayloadBytes)
    if (this.#window >= roomBytesMin || this.#restFits())
      at = this.#takeTurns(memory, at, enough, served, 1)
    if (at > from) this.#looksIdle = -1
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
    const isStuck = ++this.#looksIdle >= looksIdleMax
    const isWasted = isStuck || this.#unusedBytes >= unusedBytesMin
    this.#unusedBytes = this.#window
    for (const stream of this.#line) {
      // Whole records wait for the client alone.
      if (isShort(stream)) stream.looksHeld++
      if (stream.looksHeld >= looksHeldMax) this.#isOverdue = true
    }
    const [first] = this.#line
    if (isWasted && first !== undefined) {
      first.looksHeld = looksHeldMax
      this.#isOverdue = true
    }
    if (this.#isOverdue && this.#window > 0) this.flush()
    // A client that reads nothing is not checked again before it does.
    else if (!isStuck) this.#lookSoon()
  }

  /** No body in the queue has to wait for the client. */
  #restFits(): boolean {
    let bytes = 0
    for (const { queuedBytes } of this.#line) bytes += queuedBytes
    return bytes <= this.#window
  }

  /**
   * Gives each stream a turn that has a frame of this size, and was held back at this many looks,
   * until they are enough or no stream may send more. Returns the end.
   */
  #takeTurns(
    memory: Buffer,
    from: number,
    enough: number,
    served: Set<Outgoing>,
    bytesMin: number,
    looksHeldMin = 0,
  ): number {
    const line = this.#line
    let at = from
    let kept = 0
    let next = 0
    for (; next < line.length && at < enough; next++) {
      const stream = line[next] as Outgoing
      if (stream.looksHeld < looksHeldMin) {
        line[kept++] = stream
        continue
      }
      const end = this.#take(stream, memory, at, bytesMin)
      const hasSent = end > at
      at = end
      if (hasSent) served.add(stream)
      // One whose own window is shut comes back when the client opens it.
      stream.inLine = stream.queuedBytes > 0 && stream.window > 0
      if (!stream.inLine) {
        stream.looksHeld = 0
        continue
      }
      // A stream that had its turn goes to the end of the queue; one that waits, or was cut short,
      // keeps its place.
      const hadTurn = hasSent && (this.#window > 0 || !isShort(stream))
      if (hadTurn) {
        stream.looksHeld = 0
        line.push(stream)
      } else line[kept++] = stream
    }
    line.splice(kept, next - kept)
    return at
  }

  /** The next frames of one stream, none shorter than that but its last. Answers where they end. */
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

/** What is left of it fills no record. */
const isShort = ({ queuedBytes }: Outgoing) => queuedBytes < recordPayloadBytes

function takePieces(stream: Outgoing, bytes: number, memory: Buffer, from: number): void {
  stream.queuedBytes -= bytes
  const { pieces } = stream
  const end = from + bytes
  let whole = 0
  for (let at = from; at < end; ) {
    const piece = pieces[whole] as Buffer
    const taken = Math.min(piece.length - stream.sentOfFirst, end - at)
    const sent = stream.sentOfFirst + taken
    memory.set(taken === piece.length ? piece : piece.subarray(stream.sentOfFirst, sent), at)
    at += taken
    const isWhole = sent === piece.length
    stream.sentOfFirst = isWhole ? 0 : sent
    if (isWhole) whole++
  }
  if (whole === pieces.length) pieces.length = 0
  else if (whole > 0) pieces.splice(0, whole)
}
