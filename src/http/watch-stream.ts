/**
 * A watch on the wire: what exists, then what happens, a tick's frames in one write, no faster than the client reads.
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
/** Initial events written before looking whether the client keeps up. */
const initialPieceCount = 200
/** How long after the end of a watch its client may take to read what was written. */
const unreadMsMax = 30_000

/** How events become bytes for one negotiated shape. */
export interface Framer {
  /** Names the shape: equal names make equal frames. Empty: frames are not to be shared. */
  readonly shape: string
  frame(type: EventType, entry: Entry, revision: number): Buffer | Promise<Buffer>
  bookmark(revision: number): Buffer | undefined
}

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

/** Writes until the time is over, the client is gone, the queue overflows or the server stops. */
export async function streamWatch(watch: Watch, sink: Sink, framer: Framer, end: WatchEnd): Promise<number> {
  const { watcher } = watch
  let sent = 0
  let over = false
  const timer = setTimeout(() => finish(), end.timeoutMs)
  let bell: (() => void) | undefined
  let relief: (() => void) | undefined
  const wake = () => {
    bell?.()
    bell = undefined
    relief?.()
    relief = undefined
  }
  const isOver = () => over || sink.closed || watcher.ended
  // A client that does not read must not keep a watch whose time is over, or that fell too far behind.
  const room = async () => {
    let free = false
    const drained = sink.drained().then(() => {
      free = true
    })
    while (!free && !isOver()) {
      await new Promise<void>((resolve) => {
        relief = resolve
        drained.then(resolve)
      })
    }
  }
  const finish = () => {
    over = true
    wake()
  }
  end.stopping.addEventListener('abort', finish, { once: true })
  watcher.wake = wake
  sink.onClose?.(wake)
  end.meter?.began(watch.initial.length)
  const bookmarks = watch.bookmarks
    ? setInterval(() => {
        const frame = framer.bookmark(watch.progress())
        if (frame !== undefined && !sink.closed && bell !== undefined) sink.write(frame)
      }, bookmarkIntervalMs)
    : undefined
  try {
    sent += await writeInitial(watch, sink, framer, isOver, room, end.meter)
    while (!isOver()) {
      const items = watcher.take()
      if (items.length > 0) {
        sent += items.length
        const bytes = framesOf(items, framer, end.meter)
        const ready = bytes instanceof Promise ? await bytes : bytes
        if (!sink.write(ready)) await room()
        continue
      }
      await new Promise<void>((resolve) => {
        bell = resolve
        if (isOver()) resolve()
      })
      // Everything of this tick goes into one write.
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  } finally {
    clearTimeout(timer)
    clearInterval(bookmarks)
    end.stopping.removeEventListener('abort', finish)
    end.meter?.ended(watcher.ended && !over && !sink.closed)
    watch.stop()
    if (!sink.closed) {
      if (over && watch.bookmarks) {
        const frame = framer.bookmark(watch.progress())
        if (frame !== undefined && watcher.take().length === 0) sink.write(frame)
      }
      sink.end()
      // What was written may still be read; a client that reads nothing loses its connection.
      if (sink.abort !== undefined) breakOffLater(sink as Required<Sink>)
    }
  }
  return sent
}

function breakOffLater(sink: Required<Sink>): void {
  const timer = setTimeout(() => sink.abort(), unreadMsMax).unref()
  sink.onClose(() => clearTimeout(timer))
}

async function writeInitial(
  watch: Watch,
  sink: Sink,
  framer: Framer,
  isOver: () => boolean,
  room: () => Promise<void>,
  meter: WatchMeter | undefined,
): Promise<number> {
  const { initial } = watch
  for (let from = 0; from < initial.length && !isOver(); from += initialPieceCount) {
    const frames = await Promise.all(
      initial
        .slice(from, from + initialPieceCount)
        .map((entry) => framer.frame('ADDED', entry, entry.revision)),
    )
    meter?.sent(frames)
    if (!sink.write(Buffer.concat(frames))) await room()
  }
  return initial.length
}

function framesOf(
  items: WatchItem[],
  framer: Framer,
  meter: WatchMeter | undefined,
): Buffer | Promise<Buffer> {
  const frames: (Buffer | Promise<Buffer>)[] = items.map(({ type, event }) => frameOf(type, event, framer))
  const join = (all: Buffer[]) => {
    meter?.sent(all)
    return all.length === 1 ? all[0] : Buffer.concat(all)
  }
  if (frames.some((frame) => frame instanceof Promise)) return Promise.all(frames).then(join)
  return join(frames as Buffer[])
}

function frameOf(type: EventType, event: CacheEvent, framer: Framer): Buffer | Promise<Buffer> {
  const key = framer.shape === '' ? '' : `${framer.shape} ${type}`
  const known = key === '' ? undefined : event.frames.get(key)
  if (known !== undefined) return known
  // What left the selection is shown as it was before, with the revision of the change.
  const entry = (type === 'DELETED' ? event.previous : event.entry) as Entry
  const made = framer.frame(type, entry, event.revision)
  if (key === '') return made
  if (made instanceof Promise) {
    return made.then((frame) => {
      event.frames.set(key, frame)
      return frame
    })
  }
  event.frames.set(key, made)
  return made
}
