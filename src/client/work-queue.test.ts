import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '#base/until.fixture.ts'
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts'

const rest = (ms = 5) => new Promise((resolve) => setTimeout(resolve, ms))

function make(work: WorkQueueOptions['work'], more: Partial<WorkQueueOptions> = {}) {
  const stop = new AbortController()
  const failed: string[] = []
  const queue = new WorkQueue({
    work,
    workersMax: 2,
    signal: stop.signal,
    report: (key, _, failures) => failed.push(`${key} ${failures}`),
    backoff: { firstMs: 2, longestMs: 8 },
    ...more,
  })
  return { queue, failed, stop: () => stop.abort() }
}

test('a key that is added repeatedly is processed once; if it is added while processed, once more', async () => {
  const done: string[] = []
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const { queue, stop } = make(async (key) => {
    done.push(key)
    if (done.length === 1) await held
  })
  for (let i = 0; i < 5; i++) queue.add('a')
  await until('the first', () => done.length === 1)
  for (let i = 0; i < 5; i++) queue.add('a')
  queue.add('b')
  await until('the second', () => done.length === 2)
  await rest()
  assert.deepEqual(done, ['a', 'b'])
  release()
  await until('the third', () => done.length === 3)
  await rest()
  assert.deepEqual(done, ['a', 'b', 'a'])
  assert.equal(queue.length, 0)
  stop()
})

test('failures are reported and retried with increasing delays', async () => {
  let tries = 0
  const { queue, failed, stop } = make(async () => {
    if (++tries < 4) throw new Error('no')
  })
  queue.add('a')
  await until('it to do', () => tries === 4)
  assert.deepEqual(failed, ['a 1', 'a 2', 'a 3'])
  stop()
})

test('as many keys are processed concurrently as there are workers', async () => {
  let now = 0
  let most = 0
  let done = 0
  const { queue, stop } = make(
    async () => {
      most = Math.max(most, ++now)
      await rest(1)
      now--
      done++
    },
    { workersMax: 3 },
  )
  for (let i = 0; i < 20; i++) queue.add(`k${i}`)
  await until('all of them', () => done === 20)
  assert.equal(most, 3)
  stop()
})

test('a slow key does not delay the others', async () => {
  const done: string[] = []
  const { queue, stop } = make(async (key) => {
    if (key === 'slow') await new Promise(() => {})
    done.push(key)
  })
  queue.add('slow')
  await rest()
  for (const key of ['a', 'b', 'c']) {
    queue.add(key)
    await until(key, () => done.includes(key))
  }
  assert.deepEqual(done, ['a', 'b', 'c'])
  stop()
})

test('the earliest requested delay is kept, and stopping cancels all', async () => {
  const done: string[] = []
  const { queue, stop } = make(async (key) => {
    done.push(key)
  })
  queue.addAfter('late', 600_000)
  queue.addAfter('soon', 600_000)
  queue.addAfter('soon', 5)
  await until('what is soon', () => done.length > 0)
  assert.deepEqual(done, ['soon'])
  stop()
  queue.add('never')
  await rest()
  assert.deepEqual(done, ['soon'])
})

test('a paused queue collects keys and processes them when it starts', async () => {
  const done: string[] = []
  const { queue, stop } = make(
    async (key) => {
      done.push(key)
    },
    { paused: true },
  )
  queue.add('a')
  await rest()
  assert.deepEqual(done, [])
  queue.start()
  await until('it to start', () => done.length > 0)
  assert.deepEqual(done, ['a'])
  stop()
})

test('an observer is notified of what happens to keys', async () => {
  const reported: string[] = []
  let failures = 0
  const queue = new WorkQueue({
    work: async () => {
      if (failures++ === 0) throw new Error('first')
    },
    workersMax: 1,
    signal: new AbortController().signal,
    report: () => {},
    backoff: { firstMs: 1, longestMs: 1 },
    meter: {
      added: () => reported.push('added'),
      waiting: (keys) => reported.push(`waiting ${keys}`),
      began: (ms) => {
        reported.push(ms >= 0 ? 'began' : 'before')
        return () => reported.push('done')
      },
      retried: () => reported.push('retried'),
    },
  })
  queue.add('a')
  queue.add('a')
  while (reported.filter((one) => one === 'done').length < 2) {
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const once = ['waiting 0', 'began']
  assert.deepEqual(reported, [
    ...['added', 'waiting 1', 'waiting 1', ...once, 'retried', 'done'],
    ...['added', 'waiting 1', ...once, 'done'],
  ])
})

test('a queue that ends with waiting keys reports none waiting', async () => {
  const depths: number[] = []
  const meter = {
    added() {},
    waiting: (keys: number) => depths.push(keys),
    began: () => () => {},
    retried() {},
  }
  const { queue, stop } = make(async () => {}, { meter, paused: true })
  queue.add('a')
  queue.add('b')
  stop()
  assert.deepEqual(depths, [1, 2, 0])
})
