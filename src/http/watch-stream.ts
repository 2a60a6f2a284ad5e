/**
 * A watch on the wire: what exists, then what happens, a turn's frames in one write, no faster than the client reads.
 * Frames are made at most once per shape of an event and shared by every watch that has that shape.
 */
import type { CacheEvent } from '#watchcache/history.ts'
import type { EventType } from '#watchcache/fan-out.ts'
import type { WatchItem } from '#watchcache/watcher.ts'
import type { Entry } from '#watchcache/entry.ts'
import type { Watch } from '#verbs/watch.ts'
import type { Sink } from './exchange.ts'

/** How often an idle watch with bookmarks is told how far it has come. */
const bookmarkIntervalMs = 60_000
/** Events written before looking whether the client keeps up. */
const pieceCountMax = 200
/** Bytes of their objects, from where on the next begins another piece: large ones must not be joined by the hundred. */
const pieceBytesMin = 256 * 1024
/** How long after the end of a watch its client may take to read what was written. */
const unreadMsMax = 30_000

/** How events become bytes for one negotiated shape. */
export interface Framer {
  /** Names the shape: equal names make equal frames. Empty: frames are not to be shared. */
  readonly shape: string
  frame(type: EventType, entry: Entry, revision: number): Buffer | Promise<Buffer>
  bookmark(revision: number): Buffer | undefined
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

/** Writes until the time is over, the client is gone, the queue overflows or the server stops. Answers how many events. */
export const streamWatch = (
  watch: Watch,
  sink: Sink,
  framer: Framer,
  end: WatchEnd,
): Promise<number> => new WatchStream(watch, sink, framer, end).run()

class WatchStream {
  readonly #watch: Watch
  readonly #sink: Sink
  readonly #framer: Framer
  readonly #end: WatchEnd
  readonly #keys: FrameKeys
  #over = false
  #waiting: (() => void) | undefined
  #idle = false

  constructor(watch: Watch, sink: Sink, framer: Framer, end: WatchEnd) {
    this.#watch = watch
    this.#sink = sink
    this.#framer = framer
    this.#end = end
    this.#keys = frameKeys(framer.shape)
  }

  get #isOver(): boolean {
    return this.#over || this.#sink.closed || this.#watch.watcher.ended
  }

  #wake = (): void => {
    const waiting = this.#waiting
    if (waiting === undefined) return
    this.#waiting = undefined
    if (!this.#idle) return void waiting()
    // Everything of this turn goes into one write, and no bookmark before it.
    this.#idle = false
    inNextTurn(waiting)
  }

  #finish = (): void => {
    this.#over = true
    this.#wake()
  }

  /** Until something happens: an event, the end, room to write. */
  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = resolve
      if (this.#isOver) resolve()
    })
  }

  async run(): Promise<number> {
    const { bookmarks, initial, watcher } = this.#watch
    const timer = setTimeout(this.#finish, this.#end.timeoutMs)
    const telling = bookmarks ? setInterval(() => this.#bookmark(), bookmarkIntervalMs) : undefined
    if (this.#end.stopping.aborted) this.#finish()
    else this.#end.stopping.addEventListener('abort', this.#finish, { once: true })
    watcher.wake = this.#wake
    this.#sink.onClose?.(this.#wake)
    this.#end.meter?.began(initial.length)
    try {
      await this.#writeInitial()
      return initial.length + (await this.#writeEvents())
    } finally {
      clearTimeout(timer)
      clearInterval(telling)
      this.#end.stopping.removeEventListener('abort', this.#finish)
      this.#close()
    }
  }

  #bookmark(): void {
    const frame = this.#framer.bookmark(this.#watch.progress())
    if (frame !== undefined && !this.#sink.closed && this.#idle) this.#sink.write(frame)
  }

  async #writeInitial(): Promise<void> {
    const { initial } = this.#watch
    for (let from = 0; from < initial.length && !this.#isOver; ) {
      const to = pieceEnd(initial, from, bytesOfEntry)
      const piece = initial.slice(from, to)
      from = to
      const frames = await Promise.all(
        piece.map((entry) => this.#framer.frame('ADDED', entry, entry.revision)),
      )
      await this.#write(frames)
    }
  }

  async #writeEvents(): Promise<number> {
    const { watcher } = this.#watch
    let sent = 0
    while (!this.#isOver) {
      const items = watcher.take()
      if (items.length === 0) {
        this.#idle = true
        await this.#wait()
        this.#idle = false
        continue
      }
      for (let from = 0; from < items.length && !this.#isOver; ) {
        const to = pieceEnd(items, from, bytesOfItem)
        const piece = from === 0 && to === items.length ? items : items.slice(from, to)
        from = to
        sent += piece.length
        const frames = framesOf(piece, this.#framer, this.#keys)
        await this.#write(frames instanceof Promise ? await frames : frames)
      }
    }
    return sent
  }

  /** A client that does not read must not keep a watch whose time is over, or that fell too far behind. */
  async #write(frames: readonly Buffer[]): Promise<void> {
    this.#end.meter?.sent(frames)
    if (writeAll(this.#sink, frames)) return
    let room = false
    this.#sink.drained().then(() => {
      room = true
      this.#wake()
    })
    while (!room && !this.#isOver) await this.#wait()
  }

  #close(): void {
    const { watcher, bookmarks } = this.#watch
    const sink = this.#sink
    this.#end.meter?.ended(watcher.ended && !this.#over && !sink.closed)
    this.#watch.stop()
    if (sink.closed) return
    if (this.#over && bookmarks) {
      const frame = this.#framer.bookmark(this.#watch.progress())
      if (frame !== undefined && watcher.take().length === 0) sink.write(frame)
    }
    sink.end()
    // What was written may still be read; a client that reads nothing loses its connection.
    if (sink.abort !== undefined) breakOffLater(sink as Required<Sink>)
  }
}

/** Those who wait for the next turn of the event loop: there may be thousands, and one call serves them all. */
let woken: (() => void)[] = []

function inNextTurn(wake: () => void): void {
  if (woken.length === 0) setImmediate(wakeAll)
  woken.push(wake)
}

function wakeAll(): void {
  const all = woken
  woken = []
  for (const wake of all) wake()
}

const writeAll = (sink: Sink, frames: readonly Buffer[]): boolean =>
  sink.writeAll?.(frames) ?? sink.write(Buffer.concat(frames))

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

function framesOf(
  items: readonly WatchItem[],
  framer: Framer,
  keys: FrameKeys,
): readonly Buffer[] | Promise<readonly Buffer[]> {
  const frames = items.map(({ type, event }) => frameOf(type, event, framer, keys))
  return frames.some((frame) => frame instanceof Promise)
    ? Promise.all(frames)
    : (frames as Buffer[])
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
