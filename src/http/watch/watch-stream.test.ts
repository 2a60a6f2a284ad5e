import assert from 'node:assert/strict'
import test, { mock } from 'node:test'
import type { Kind } from '#kinds/kind.ts'
import type { Watch } from '#verbs/watch.ts'
import { entryOf, eventOf, settle } from '#watchcache/picture.suite.ts'
import { Watcher, watcherQueueLengthMax } from '#watchcache/watcher.ts'
import type { Sink } from '#http/exchange.ts'
import { type Framer, streamWatch, type WatchEnd } from './watch-stream.ts'

const framer: Framer = {
  shape: 'test',
  frame: (type, entry, revision) => Buffer.from(`${type} ${entry.name} ${revision}\n`),
  bookmark: (revision) => Buffer.from(`BOOKMARK ${revision}\n`),
}

function watchWith(initial: string[] = [], bookmarks = false) {
  const watcher = new Watcher('', undefined)
  let stops = 0
  const watch: Watch = {
    kind: {} as Kind,
    initial: initial.map((name, i) => entryOf(name, i + 1)),
    watcher,
    bookmarks,
    timeoutSeconds: undefined,
    progress: () => 99,
    stop: () => void stops++,
  }
  return { watch, watcher, stops: () => stops }
}

/** A client that reads, or one that stops reading after some writes. */
function sinkReading(writesMax = Number.POSITIVE_INFINITY) {
  let text = ''
  let writes = 0
  let closed = false
  const closing: (() => void)[] = []
  const sink: Sink = {
    write(bytes) {
      text += bytes.toString('utf8')
      return ++writes < writesMax
    },
    drained: () => new Promise(() => {}),
    end() {
      closed = true
      for (const listener of closing) listener()
    },
    abort: () => {},
    onClose: (listener) => void closing.push(listener),
    get closed() {
      return closed
    },
  }
  return { sink, text: () => text, close: sink.end }
}

const ends = (
  timeoutMs = 60_000,
  stopping = new AbortController(),
): WatchEnd & { stop(): void } => ({
  timeoutMs,
  stopping: stopping.signal,
  stop: () => stopping.abort(),
})

test('a watch that starts while the server stops ends at once', async () => {
  const { watch, stops } = watchWith(['a'])
  const { sink, text } = sinkReading()
  const end = ends()
  end.stop()
  await streamWatch(watch, sink, framer, end)
  assert.deepEqual([text(), sink.closed, stops()], ['', true, 1])
})

test('initial events, then changes, then the end', async () => {
  const { watch, watcher, stops } = watchWith(['a', 'b'])
  const { sink, text } = sinkReading()
  const end = ends()
  const running = streamWatch(watch, sink, framer, end)
  await settle()
  watcher.deliver('ADDED', eventOf(5, entryOf('c', 5)))
  watcher.deliver('DELETED', eventOf(6, undefined, entryOf('c', 5)))
  await settle()
  await settle()
  end.stop()
  assert.equal(await running, 4)
  assert.equal(text(), 'ADDED a 1\nADDED b 2\nADDED c 5\nDELETED c 6\n')
  assert.deepEqual([stops(), sink.closed], [1, true])
})

test('large objects are written one by one, small ones together, in order', async () => {
  const sized = (name: string, revision: number, bytes: number) => {
    const entry = entryOf(name, revision)
    return { ...entry, cut: { ...entry.cut, bytes: Buffer.alloc(bytes) } }
  }
  const large = 300 * 1024
  const sizes = [10, large, large, 10, 10]
  const { watch, watcher } = watchWith()
  const entries = sizes.map((bytes, i) => sized(`i${i}`, i + 1, bytes))
  const { sink, text } = sinkReading()
  const pieces: string[] = []
  const counting: Sink = {
    ...sink,
    write: (bytes) => {
      pieces.push(
        bytes
          .toString()
          .trim()
          .replaceAll(/ADDED | \d+/g, '')
          .replaceAll('\n', '+'),
      )
      return sink.write(bytes)
    },
    get closed() {
      return sink.closed
    },
  }
  const end = ends()
  const running = streamWatch({ ...watch, initial: entries }, counting, framer, end)
  await settle()
  for (const [i, bytes] of sizes.entries())
    watcher.deliver('ADDED', eventOf(10 + i, sized(`e${i}`, 10 + i, bytes)))
  await settle()
  await settle()
  end.stop()
  assert.equal(await running, 10)
  assert.deepEqual(pieces, ['i0+i1', 'i2', 'i3+i4', 'e0+e1', 'e2', 'e3+e4'])
  assert.match(text(), /i4 5\nADDED e0 10\n/)
})

test('a watch ends at its timeout, and sends bookmarks on request', async () => {
  const { watch } = watchWith([], true)
  const { sink, text } = sinkReading()
  await streamWatch(watch, sink, framer, ends(5))
  assert.equal(text(), 'BOOKMARK 99\n')
})

test('a watch ends when its client disconnects', async () => {
  const { watch, stops } = watchWith()
  const { sink, close } = sinkReading()
  const running = streamWatch(watch, sink, framer, ends())
  await settle()
  close()
  await running
  assert.equal(stops(), 1)
})

test('a client that does not read is disconnected at the queue limit or the timeout', async () => {
  const behind = watchWith()
  const first = sinkReading(1)
  const running = streamWatch(behind.watch, first.sink, framer, ends())
  for (let i = 1; i <= watcherQueueLengthMax + 10; i++) {
    behind.watcher.deliver('ADDED', eventOf(i, entryOf('x', i)))
    if (i === 1) {
      await settle()
      await settle()
    }
  }
  await running
  assert.deepEqual([behind.stops(), first.sink.closed], [1, true])

  const late = watchWith(['a'])
  const second = sinkReading(1)
  await streamWatch(late.watch, second.sink, framer, ends(5))
  assert.deepEqual([late.stops(), second.sink.closed], [1, true])
})

test('a frame is encoded once for all watches with the same shape', async () => {
  let made = 0
  const counting: Framer = {
    ...framer,
    frame(...args) {
      made++
      return framer.frame(...args)
    },
  }
  const all = Array.from({ length: 5 }, () => ({ ...watchWith(), ...sinkReading() }))
  const end = ends()
  const running = all.map(({ watch, sink }) => streamWatch(watch, sink, counting, end))
  await settle()
  const event = eventOf(7, entryOf('shared', 7))
  for (const { watcher } of all) watcher.deliver('ADDED', event)
  await settle()
  await settle()
  end.stop()
  await Promise.all(running)
  for (const { text } of all) assert.equal(text(), 'ADDED shared 7\n')
  assert.equal(made, 1)
})

test('each shape has its own frames, and unnamed shapes share none', async () => {
  const shaped = (shape: string, mark: string): Framer => ({
    ...framer,
    shape,
    frame: (type, { name }) => Buffer.from(`${mark} ${type} ${name}\n`),
  })
  const rows: [framer: Framer, expected: string][] = [
    [shaped('json', 'j'), 'j'],
    [shaped('table', 't'), 't'],
    [shaped('', 'one'), 'one'],
    [shaped('', 'two'), 'two'],
    [shaped('json', 'made already'), 'j'],
  ]
  const event = eventOf(7, entryOf('a', 7))
  const end = ends()
  const all = rows.map(([each]) => {
    const { watch, watcher } = watchWith()
    const { sink, text } = sinkReading()
    return { watcher, text, running: streamWatch(watch, sink, each, end) }
  })
  await settle()
  for (const { watcher } of all) {
    watcher.deliver('ADDED', event)
    await settle()
    await settle()
  }
  end.stop()
  await Promise.all(all.map(({ running }) => running))
  assert.deepEqual(
    all.map(({ text }) => text()),
    rows.map(([, mark]) => `${mark} ADDED a\n`),
  )
})

test('an object that leaves the selection is sent in its previous state with the new revision', async () => {
  const labels: Framer = {
    ...framer,
    frame: (type, entry, revision) =>
      Buffer.from(`${type} ${JSON.stringify(entry.labels)} ${revision}\n`),
  }
  const { watch, watcher } = watchWith()
  const { sink, text } = sinkReading()
  const end = ends()
  const running = streamWatch(watch, sink, labels, end)
  await settle()
  const [before, after] = [entryOf('a', 5, { in: 'yes' }), entryOf('a', 6, { in: 'no' })]
  watcher.deliver('DELETED', eventOf(6, after, before))
  await settle()
  await settle()
  end.stop()
  await running
  assert.equal(text(), 'DELETED {"in":"yes"} 6\n')
})

/** The test decides when the client reads. */
function sinkByHand() {
  const writes: string[] = []
  const waiting: (() => void)[] = []
  const reported = { aborted: 0 }
  let closed = false
  const sink: Sink = {
    write(bytes) {
      writes.push(bytes.toString('utf8'))
      return false
    },
    drained: () => new Promise((resolve) => void waiting.push(resolve)),
    end() {
      closed = true
    },
    abort: () => void reported.aborted++,
    onClose: () => {},
    get closed() {
      return closed
    },
  }
  const drain = async () => {
    for (const resolve of waiting.splice(0)) resolve()
    for (let i = 0; i < 4; i++) await settle()
  }
  return { sink, writes, drain, reported }
}

test('nothing is written before the client has room, even events that are encoded asynchronously, and all in order', async () => {
  const { watch, watcher } = watchWith(['i'])
  const { sink, writes, drain } = sinkByHand()
  // The first of two encodings takes longer than the second.
  const slow: Framer = {
    ...framer,
    shape: '',
    frame: async (type, entry, revision) => {
      for (let i = 20 - revision; i > 0; i--) await Promise.resolve()
      return framer.frame(type, entry, revision)
    },
  }
  const end = ends()
  const running = streamWatch(watch, sink, slow, end)
  await drain()
  for (const revision of [5, 6]) watcher.deliver('ADDED', eventOf(revision, entryOf('e', revision)))
  await drain()
  watcher.deliver('ADDED', eventOf(7, entryOf('e', 7)))
  for (let i = 0; i < 4; i++) await settle()
  assert.deepEqual(writes, ['ADDED i 1\n', 'ADDED e 5\nADDED e 6\n'])
  await drain()
  assert.equal(writes[2], 'ADDED e 7\n')
  end.stop()
  await running
})

test('the last bookmark is sent only to watches that received everything before it', async () => {
  const never: Framer = { ...framer, shape: '', frame: () => new Promise(() => {}) }
  const rows: [what: string, framer: Framer, initial: number, events: number, reported: boolean][] =
    [
      ['nothing happened', framer, 0, 0, true],
      ['all that exists is written', framer, 200, 0, true],
      ['some of what exists is not', framer, 201, 0, false],
      ['all that happened is written', framer, 0, 200, true],
      ['some of what happened is not', framer, 0, 201, false],
      ['what exists is being made', never, 1, 0, false],
      ['what happened is being made', never, 0, 1, false],
    ]
  for (const [what, each, initial, events, reported] of rows) {
    const names = Array.from({ length: initial }, (_, i) => `i${i}`)
    const { watch, watcher } = watchWith(names, true)
    const { sink, writes } = sinkByHand()
    const end = ends()
    const running = streamWatch(watch, sink, each, end)
    await settle()
    for (let i = 1; i <= events; i++) watcher.deliver('ADDED', eventOf(i, entryOf('e', i)))
    for (let i = 0; i < 4; i++) await settle()
    end.stop()
    await running
    assert.equal(writes.at(-1) === 'BOOKMARK 99\n', reported, what)
  }
})

test('a watch whose frames cannot be encoded ends with an error', async () => {
  const failing = (frame: Framer['frame']): Framer => ({ ...framer, shape: '', frame })
  const broken = new Error('broken')
  for (const each of [
    failing(() => {
      throw broken
    }),
    failing(() => Promise.reject(broken)),
  ]) {
    const { watch, watcher, stops } = watchWith([], true)
    const { sink, text } = sinkReading()
    const running = streamWatch(watch, sink, each, ends())
    await settle()
    watcher.deliver('ADDED', eventOf(5, entryOf('e', 5)))
    await assert.rejects(running, broken)
    assert.deepEqual([text(), sink.closed, stops()], ['', true, 1])
  }
})

test('an idle watch gets a bookmark each minute, a slow one does not', async () => {
  mock.timers.enable({ apis: ['setInterval'] })
  try {
    const { watch, watcher } = watchWith([], true)
    const { sink, writes, drain } = sinkByHand()
    const end = ends()
    const running = streamWatch(watch, sink, framer, end)
    await drain()
    mock.timers.tick(59_000)
    assert.deepEqual(writes, [])
    mock.timers.tick(1000)
    assert.deepEqual(writes.splice(0), ['BOOKMARK 99\n'])
    watcher.deliver('ADDED', eventOf(5, entryOf('e', 5)))
    mock.timers.tick(60_000)
    assert.deepEqual(writes, [], 'what happened is told first')
    for (let i = 0; i < 4; i++) await settle()
    mock.timers.tick(60_000)
    assert.deepEqual(writes.splice(0), ['ADDED e 5\n'])
    await drain()
    mock.timers.tick(60_000)
    assert.deepEqual(writes.splice(0), ['BOOKMARK 99\n'])
    end.stop()
    await running
    mock.timers.tick(120_000)
    assert.deepEqual(writes, ['BOOKMARK 99\n'], 'the last word, once')
  } finally {
    mock.timers.reset()
  }
})

test('a client that does not read the end of its watch is disconnected after a while', async () => {
  const { watch } = watchWith(['a'])
  const { sink, reported } = sinkByHand()
  const end = ends()
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const running = streamWatch(watch, sink, framer, end)
    for (let i = 0; i < 4; i++) await settle()
    end.stop()
    await running
    mock.timers.tick(29_000)
    assert.equal(reported.aborted, 0)
    mock.timers.tick(1000)
    assert.equal(reported.aborted, 1)
  } finally {
    mock.timers.reset()
  }
})
