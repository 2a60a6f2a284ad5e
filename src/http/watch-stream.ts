/**
 * A watch on the wire: what exists, then what happens, a turn's frames in one write, no faster than
 * the client reads. Frames are made at most once per shape of an event and shared by every watch
 * that has that shape.
 */
import type { CacheEvent } from '#watchcache/history.ts'
import type { Batch, EventType, WatchItem } from '#watchcache/batch.ts'
import type { Entry } from '#watchcache/entry.ts'
import type { Revision } from '#storage/storage.ts'
import type { Watch } from '#verbs/watch.ts'
import type { Sink } from './exchange.ts'
import { runInReadPhase } from '#base/event-loop-phases.ts'

/** How often an idle watch with bookmarks gets one. */
const bookmarkIntervalMs = 60_000
/** Events written before looking whether the client keeps up. */
const pieceCountMax = 200
/**
 * Bytes of their objects, from where on the next begins another piece: large ones must not be
 * joined by the hundred.
 */
const pieceBytesMin = 256 * 1024
/** How long after the end of a watch its client may take to read what was written. */
const unreadMsMax = 30_000

/** How events become bytes for one negotiated shape. */
export interface Framer {
  /** Names the shape: equal names make equal frames. Empty: frames are not to be shared. */
  readonly shape: string
  frame(type: EventType, entry: Entry, revision: number): Buffer | Promise<Buffer>
  bookmark(revision: number, endsInitial?: boolean): Buffer | undefined
}

/** One that says what its bytes are. */
export type TypedFramer = Framer & { readonly contentType: string }

export interface WatchEnd {
  readonly timeoutMs: number
  readonly stopping: AbortSignal
  readonly meter?: WatchMeter | undefined
}

/** Counts what a watch sends. */
export interface WatchMeter {
  began(initialEvents: number): void
  sent(frames: readonly Buffer[]): void
  ended(fellBehind: boolean): void
}

/**
 * Writes until the time is over, the client is gone, the queue overflows or the server stops.
 * Answers how many events.
 */
export const streamWatch = (
  watch: Watch,
  sink: Sink,
  framer: Framer,
  end: WatchEnd,
): Promise<number> =>
  new Promise((resolve, reject) => {
    new WatchStream(watch, sink, framer, end, (sent, failure) =>
      failure === undefined ? resolve(sent) : reject(failure.error),
    ).begin()
  })

/** Nothing to write; about to write; frames are being made; no room for more; done. */
type State = 'idle' | 'due' | 'making' | 'full' | 'over'

type Frames = readonly Buffer[] | Promise<readonly Buffer[]>

/**
 * A promise is made where one must wait, and nowhere else: there are thousands of watches, and each
 * is woken by each event.
 */
class WatchStream {
  readonly #watch: Watch
  readonly #sink: Sink
  readonly #framer: Framer
  readonly #end: WatchEnd
  readonly #done: (sent: number, failure: { readonly error: unknown } | undefined) => void
  readonly #keys: FrameKeys
  #state: State = 'due'
  #isStopped = false
  #timer: NodeJS.Timeout | undefined
  #telling: NodeJS.Timeout | undefined
  /** How much of what exists is written. */
  #initialAt = 0
  /** The client waits for the bookmark behind what exists. */
  #owesInitialEnd: boolean
  /** What was taken of what happened, and how much of it is written; nothing once all is. */
  #batch: Batch | undefined
  #itemsAt = 0
  #sent = 0

  constructor(
    watch: Watch,
    sink: Sink,
    framer: Framer,
    end: WatchEnd,
    done: (sent: number, failure: { readonly error: unknown } | undefined) => void,
  ) {
    this.#watch = watch
    this.#sink = sink
    this.#framer = framer
    this.#end = end
    this.#done = done
    this.#keys = frameKeys(framer.shape)
    this.#owesInitialEnd = watch.initialEnd !== undefined
  }

  begin(): void {
    const { bookmarks, initial, watcher } = this.#watch
    this.#timer = setTimeout(this.#stop, this.#end.timeoutMs)
    if (bookmarks) this.#telling = setInterval(() => this.#bookmark(), bookmarkIntervalMs)
    if (this.#end.stopping.aborted) this.#isStopped = true
    else this.#end.stopping.addEventListener('abort', this.#stop, { once: true })
    watcher.wake = this.#wake
    this.#sink.onClose?.(this.#wake)
    this.#end.meter?.began(initial.length)
    this.#goOn()
  }

  get #isOver(): boolean {
    return this.#state === 'over'
  }

  get #mustEnd(): boolean {
    return this.#isStopped || this.#sink.closed || this.#watch.watcher.ended
  }

  #stop = (): void => {
    this.#isStopped = true
    this.#wake()
  }

  /** Something happened. Everything of this turn goes into one write, and no bookmark before it. */
  #wake = (): void => {
    if (this.#state === 'idle') {
      this.#state = 'due'
      runInReadPhase(this.#goOn)
    } else if (this.#state !== 'due' && this.#mustEnd) this.#finish()
  }

  /** Writes what there is, as far as the client takes it. */
  #goOn = (): void => {
    if (this.#isOver) return
    this.#state = 'due'
    try {
      while (!this.#mustEnd) {
        const frames = this.#nextFrames()
        if (frames === undefined) return void (this.#state = 'idle')
        if (frames instanceof Promise) return void this.#whenMade(frames)
        if (!this.#write(frames)) return void this.#whenDrained()
      }
      this.#finish()
    } catch (error) {
      this.#finish({ error })
    }
  }

  async #whenMade(making: Promise<readonly Buffer[]>): Promise<void> {
    this.#state = 'making'
    try {
      const frames = await making
      if (this.#isOver || this.#mustEnd) return void this.#finish()
      this.#state = 'due'
      if (this.#write(frames)) this.#goOn()
      else this.#whenDrained()
    } catch (error) {
      this.#finish({ error })
    }
  }

  #whenDrained(): void {
    this.#state = 'full'
    this.#sink.drained().then(this.#goOn)
  }

  #write(frames: readonly Buffer[]): boolean {
    this.#sent += frames.length
    this.#end.meter?.sent(frames)
    return this.#sink.writeAll?.(frames) ?? this.#sink.write(Buffer.concat(frames))
  }

  /** The next piece of what exists, then of what happened. */
  #nextFrames(): Frames | undefined {
    const { initial, initialEnd, watcher } = this.#watch
    if (this.#initialAt < initial.length) {
      const from = this.#initialAt
      this.#initialAt = pieceEnd(initial, from, bytesOfEntry)
      return made(initial, from, this.#initialAt, this.#frameOfEntry)
    }
    if (this.#owesInitialEnd) {
      this.#owesInitialEnd = false
      const frame = this.#framer.bookmark(initialEnd as Revision, true)
      if (frame !== undefined) return [frame]
    }
    this.#batch ??= watcher.takeBatch()
    return this.#batch && this.#framesOf(this.#batch)
  }

  /** What all watches write alike is made once. */
  #framesOf(batch: Batch): Frames {
    const { items, bytes } = batch
    const { shape } = this.#framer
    if (items.length > pieceCountMax || bytes >= pieceBytesMin) return this.#piece(items)
    this.#batch = undefined
    const known = shape === '' ? undefined : batch.framesIn(shape)
    if (known !== undefined) return known
    const frames = made(items, 0, items.length, this.#frameOfItem)
    if (shape !== '' && !(frames instanceof Promise)) batch.keepFrames(shape, frames)
    return frames
  }

  #piece(items: readonly WatchItem[]): Frames {
    const from = this.#itemsAt
    const to = pieceEnd(items, from, bytesOfItem)
    const isLast = to === items.length
    this.#itemsAt = isLast ? 0 : to
    if (isLast) this.#batch = undefined
    return made(items, from, to, this.#frameOfItem)
  }

  #frameOfEntry = (entry: Entry): Buffer | Promise<Buffer> =>
    this.#framer.frame('ADDED', entry, entry.revision)

  #frameOfItem = ({ type, event }: WatchItem): Buffer | Promise<Buffer> =>
    frameOf(type, event, this.#framer, this.#keys)

  #bookmark(): void {
    // Reading the progress may deliver more events first.
    const progress = this.#watch.progress()
    if (this.#state !== 'idle' || this.#sink.closed) return
    const frame = this.#framer.bookmark(progress)
    if (frame !== undefined) this.#sink.write(frame)
  }

  /**
   * A client that does not read must not keep a watch whose time is over, or that fell too far
   * behind.
   */
  #finish(failure?: { readonly error: unknown }): void {
    if (this.#isOver) return
    const isWritten = this.#isWritten && failure === undefined
    this.#state = 'over'
    clearTimeout(this.#timer)
    clearInterval(this.#telling)
    this.#end.stopping.removeEventListener('abort', this.#stop)
    const progress = this.#watch.progress()
    this.#close(isWritten && this.#watch.watcher.queued === 0 ? progress : undefined)
    this.#done(this.#sent, failure)
  }

  /** Everything that was taken is on its way. */
  get #isWritten(): boolean {
    const isAll = this.#initialAt === this.#watch.initial.length && this.#batch === undefined
    return isAll && !this.#owesInitialEnd && this.#state !== 'making'
  }

  /** Sends the last event to watches that received everything up to it. */
  #close(progress: Revision | undefined): void {
    const { watcher, bookmarks } = this.#watch
    const sink = this.#sink
    this.#end.meter?.ended(watcher.ended && !this.#isStopped && !sink.closed)
    this.#watch.stop()
    if (sink.closed) return
    if (this.#isStopped && bookmarks && progress !== undefined) {
      const frame = this.#framer.bookmark(progress)
      if (frame !== undefined) sink.write(frame)
    }
    sink.end()
    // What was written may still be read; a client that reads nothing loses its connection.
    if (sink.abort !== undefined) breakOffLater(sink as Required<Sink>)
  }
}

const bytesOfEntry = ({ cut }: Entry): number => cut.bytes.length
const bytesOfItem = ({ event }: WatchItem): number => event.bytes

/** Where the piece ends that begins here. */
function pieceEnd<T>(all: readonly T[], from: number, bytesOf: (one: T) => number): number {
  const last = Math.min(all.length, from + pieceCountMax)
  let bytes = 0
  for (let at = from; at < last; at++) {
    bytes += bytesOf(all[at] as T)
    if (bytes >= pieceBytesMin) return at + 1
  }
  return last
}

function breakOffLater(sink: Required<Sink>): void {
  const timer = setTimeout(() => sink.abort(), unreadMsMax).unref()
  sink.onClose(() => clearTimeout(timer))
}

/** A piece of all, each made into a frame: at once where each can be. */
function made<T>(
  all: readonly T[],
  from: number,
  to: number,
  frameOf: (one: T) => Buffer | Promise<Buffer>,
): Frames {
  const frames = new Array<Buffer | Promise<Buffer>>(to - from)
  let areReady = true
  for (let at = from; at < to; at++) {
    const frame = frameOf(all[at] as T)
    if (frame instanceof Promise) areReady = false
    frames[at - from] = frame
  }
  return areReady ? (frames as Buffer[]) : Promise.all(frames)
}

/** Under which name an event keeps the frame of a shape; undefined where it is not to be shared. */
type FrameKeys = Readonly<Record<EventType, string>> | undefined

function frameKeys(shape: string): FrameKeys {
  if (shape === '') return undefined
  return { ADDED: `${shape} ADDED`, MODIFIED: `${shape} MODIFIED`, DELETED: `${shape} DELETED` }
}

function frameOf(
  type: EventType,
  event: CacheEvent,
  framer: Framer,
  keys: FrameKeys,
): Buffer | Promise<Buffer> {
  const key = keys?.[type]
  const known = key === undefined ? undefined : event.frames.get(key)
  if (known !== undefined) return known
  // What left the selection is shown as it was before, with the revision of the change.
  const entry = (type === 'DELETED' ? event.previous : event.entry) as Entry
  const made = framer.frame(type, entry, event.revision)
  if (key === undefined) return made
  if (made instanceof Promise) {
    return made.then((frame) => {
      event.frames.set(key, frame)
      return frame
    })
  }
  event.frames.set(key, made)
  return made
}
