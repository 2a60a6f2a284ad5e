/**
 * Sends a watch to the client: first the initial events, then the changes. The frames of one turn
 * of the event loop are one write, and no faster than the client reads. Watches with the same shape
 * share the frame of an event.
 */
import type { CacheEvent } from '#watchcache/history.ts'
import type { Batch, EventType, WatchItem } from '#watchcache/batch.ts'
import type { Entry } from '#watchcache/entry.ts'
import type { Revision } from '#storage/storage.ts'
import type { Watch } from '#verbs/watch.ts'
import type { Sink } from '#http/exchange.ts'
import { runInReadPhase } from '#base/event-loop-phases.ts'

/** How often an idle watch that allows bookmarks gets a bookmark. */
const bookmarkIntervalMs = 60_000
/** Events per write; after each write the stream checks whether the client keeps up. */
const pieceCountMax = 200
/**
 * A write ends after objects of this many bytes, so that hundreds of large objects are not joined.
 */
const pieceBytesMin = 256 * 1024
/** After the end of a watch, its client has this long to read what was written. */
const unreadMsMax = 30_000

/** Encodes events in one negotiated shape. */
export interface Framer {
  /**
   * The name of the shape: framers with equal names make equal frames. If empty, frames are not
   * shared.
   */
  readonly shape: string
  frame(type: EventType, entry: Entry, revision: number): Buffer | Promise<Buffer>
  bookmark(revision: number, endsInitial?: boolean): Buffer | undefined
}

/** A framer that declares its content type. */
export type TypedFramer = Framer & { readonly contentType: string }

export interface WatchEnd {
  readonly timeoutMs: number
  readonly stopping: AbortSignal
  readonly meter?: WatchMeter | undefined
}

/** Counts the events that a watch sends. */
export interface WatchMeter {
  began(initialEvents: number): void
  sent(frames: readonly Buffer[]): void
  ended(fellBehind: boolean): void
}

/**
 * Writes until the timeout passes, the client disconnects, the watcher's queue overflows or the
 * server stops. Resolves with the number of events sent.
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

/**
 * `idle`: nothing to write. `due`: a write is scheduled. `making`: frames are being encoded.
 * `full`: the client must read first. `over`: the watch has ended.
 */
type State = 'idle' | 'due' | 'making' | 'full' | 'over'

type Frames = readonly Buffer[] | Promise<readonly Buffer[]>

/**
 * It awaits a promise only where it has to wait. There are thousands of watches, and each event
 * wakes each of them.
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
  #bookmarkTimer: NodeJS.Timeout | undefined
  /** The number of initial events already written. */
  #initialAt = 0
  /** Whether the bookmark after the initial events is still to be sent. */
  #owesInitialEnd: boolean
  /**
   * The batch that is being written, and the number of its items already written; undefined if all
   * are written.
   */
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
    if (bookmarks) this.#bookmarkTimer = setInterval(() => this.#bookmark(), bookmarkIntervalMs)
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

  /**
   * Runs at an event. It schedules one write for all events of this turn, and sends no bookmark
   * before it.
   */
  #wake = (): void => {
    if (this.#state === 'idle') {
      this.#state = 'due'
      runInReadPhase(this.#goOn)
    } else if (this.#state !== 'due' && this.#mustEnd) this.#finish()
  }

  /** Writes until nothing is left or the client must read first. */
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

  /** The next frames: initial events first, then batches of the watcher. */
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

  /** Unfiltered watches share one batch, so the frames of a batch are encoded once per shape. */
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
    // Reading the progress may deliver more events, which must precede the bookmark.
    const progress = this.#watch.progress()
    if (this.#state !== 'idle' || this.#sink.closed) return
    const frame = this.#framer.bookmark(progress)
    if (frame !== undefined) this.#sink.write(frame)
  }

  /**
   * Ends the watch even if its client does not read: its time is over or it fell too far behind.
   */
  #finish(failure?: { readonly error: unknown }): void {
    if (this.#isOver) return
    const isWritten = this.#isWritten && failure === undefined
    this.#state = 'over'
    clearTimeout(this.#timer)
    clearInterval(this.#bookmarkTimer)
    this.#end.stopping.removeEventListener('abort', this.#stop)
    const progress = this.#watch.progress()
    this.#close(isWritten && this.#watch.watcher.queued === 0 ? progress : undefined)
    this.#done(this.#sent, failure)
  }

  /** Whether every event taken from the watcher was written. */
  get #isWritten(): boolean {
    const isAll = this.#initialAt === this.#watch.initial.length && this.#batch === undefined
    return isAll && !this.#owesInitialEnd && this.#state !== 'making'
  }

  /** Sends a last bookmark if the watch received everything up to it. */
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
    // The client may still read what was written; after `unreadMsMax` its connection is closed.
    if (sink.abort !== undefined) breakOffLater(sink as Required<Sink>)
  }
}

const bytesOfEntry = ({ cut }: Entry): number => cut.bytes.length
const bytesOfItem = ({ event }: WatchItem): number => event.bytes

/** The index after the last item of the next write. */
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

/**
 * Encodes items `from` to `to`. Returns a promise only if the encoding of an item is asynchronous.
 */
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

/** The key under which an event caches its frame; undefined if frames are not shared. */
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
  const known = key === undefined ? undefined : event.frames?.get(key)
  if (known !== undefined) return known
  // An object that no longer matches the selector is sent in its previous state, with the revision
  // of the change.
  const entry = (type === 'DELETED' ? event.previous : event.entry) as Entry
  const made = framer.frame(type, entry, event.revision)
  if (key === undefined) return made
  if (made instanceof Promise) {
    return made.then((frame) => {
      keepFrame(event, key, frame)
      return frame
    })
  }
  keepFrame(event, key, made)
  return made
}

function keepFrame(event: CacheEvent, key: string, frame: Buffer): void {
  event.frames ??= new Map()
  event.frames.set(key, frame)
}
