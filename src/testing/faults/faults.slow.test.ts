/** Injected faults, as a client of the cluster sees them. */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { FailedRequest } from '#testing/failed-request.ts'
import { forkPerTest } from '#testing/start-cluster.ts'
import type { FaultRule } from './fault-rule.ts'

const cluster = forkPerTest({ before, after, beforeEach, afterEach })
const reference = (name = '') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
})
const configMap = (name: string, value = '0'): KubeObject => ({
  ...reference(name),
  data: { value },
})
const create = (name: string) => cluster().client.create(configMap(name))
const exists = (name: string) =>
  cluster()
    .client.get(reference(name))
    .then(
      () => true,
      () => false,
    )
const outcome = (work: Promise<unknown>): Promise<number> =>
  work.then(
    () => 200,
    (error) => (error instanceof FailedRequest ? error.code : 0),
  )

test('errors: which requests they affect, and whether the write is committed', async () => {
  const rows: [title: string, rule: FaultRule, codes: number[], kept: boolean][] = [
    ['each', { match: { verb: 'create' }, action: { error: { code: 500 } } }, [500, 500], false],
    [
      'the second',
      { match: { verb: 'create', nth: 2 }, action: { error: { code: 409 } } },
      [200, 409, 200],
      true,
    ],
    [
      'the first two',
      { match: { times: 2 }, action: { error: { code: 429, retryAfterSeconds: 1 } } },
      [429, 429, 200],
      false,
    ],
    [
      'after the commit',
      { match: { verb: 'create' }, action: { error: { code: 504 }, when: 'after' } },
      [504],
      true,
    ],
    ['cut after the commit', { match: { verb: 'create' }, action: { cut: 'after' } }, [0], true],
    ['cut before the commit', { match: { verb: 'create' }, action: { cut: 'before' } }, [0], false],
    ['another name', { match: { name: 'other' }, action: { error: { code: 500 } } }, [200], true],
    [
      'another user agent',
      { match: { userAgent: 'kubectl' }, action: { error: { code: 500 } } },
      [200],
      true,
    ],
  ]
  for (const [title, rule, codes, kept] of rows) {
    const { faults } = cluster()
    // Discovery requests of the client are not counted.
    await exists('nothing')
    const number = faults.add(rule)
    for (const [i, code] of codes.entries())
      assert.equal(await outcome(create(`${title.replaceAll(' ', '-')}-${i}`)), code, title)
    assert.equal(faults.remove(number), true)
    assert.equal(await exists(`${title.replaceAll(' ', '-')}-0`), kept, title)
  }
})

test('an error contains the Status, and the log has each fault', async () => {
  const { faults, client } = cluster()
  const error = { code: 429, message: 'slow down', retryAfterSeconds: 3 }
  const rule = faults.add({ match: { verb: 'get', resource: 'configmaps' }, action: { error } })
  await assert.rejects(client.get(reference('a')), (failed: FailedRequest) => {
    assert.equal(failed.reason, 'TooManyRequests')
    assert.deepEqual(failed.status.details, { retryAfterSeconds: 3 })
    return failed.message.includes('slow down')
  })
  const [entry] = faults.log
  assert.equal(entry?.rule, rule)
  assert.equal(entry.url, '/api/v1/namespaces/default/configmaps/a')
})

test('the same seed injects the same faults', async () => {
  const runs: number[][] = []
  for (const seed of [7, 7, 8]) {
    await cluster().reset()
    await exists('nothing')
    const match = { verb: 'create', probability: 0.5, seed }
    cluster().faults.add({ match, action: { error: { code: 500 } } })
    const codes: number[] = []
    for (let i = 0; i < 20; i++) codes.push(await outcome(create(`a-${i}`)))
    runs.push(codes)
  }
  assert.deepEqual(runs[0], runs[1])
  assert.notDeepEqual(runs[0], runs[2])
})

/** The first events of a watch, each as its type, name and value. */
async function eventsOf(count: number, resourceVersion: string): Promise<string[]> {
  const events: string[] = []
  const signal = AbortSignal.timeout(5000)
  const options = { resourceVersion, signal, allowWatchBookmarks: true }
  for await (const { type, object } of cluster().client.watch(reference(), options)) {
    events.push(`${type} ${object.metadata.name} ${object.data?.value}`)
    if (events.length === count) break
  }
  return events
}

async function writeThree(): Promise<string> {
  const { resourceVersion } = (await cluster().client.list(reference())).metadata
  const made = await create('a')
  await cluster().client.patch(reference('a'), { data: { value: '1' } })
  await cluster().client.patch(reference('a'), { data: { value: '2' } })
  assert.equal(made.data.value, '0')
  return resourceVersion
}

test('watches: skipped states, an early end, 410', async () => {
  const from = await writeThree()
  const { faults } = cluster()
  assert.deepEqual(await eventsOf(3, from), ['ADDED a 0', 'MODIFIED a 1', 'MODIFIED a 2'])
  const skip = faults.add({ action: { watch: { skip: 2 } } })
  assert.deepEqual(await eventsOf(1, from), ['ADDED a 2'])
  faults.remove(skip)
  const end = faults.add({ action: { watch: { endAfter: 2 } } })
  assert.deepEqual(await eventsOf(9, from), ['ADDED a 0', 'MODIFIED a 1'])
  faults.remove(end)
  faults.add({ action: { watch: { endAfter: 1, gone: true } } })
  await assert.rejects(eventsOf(9, from), (error: FailedRequest) => error.code === 410)
})

test('watches: a deletion and a skipped last state always arrive', async () => {
  const { client, faults } = cluster()
  await create('listed')
  const { resourceVersion } = (await client.list(reference())).metadata
  const change = (name: string, value: string) => client.patch(reference(name), { data: { value } })
  const rows: [title: string, events: string[], write: () => Promise<unknown>][] = [
    ['a last state', ['MODIFIED listed 1'], () => change('listed', '1')],
    [
      'a state between two others',
      ['MODIFIED listed 2'],
      async () => {
        await change('listed', '1')
        await change('listed', '2')
      },
    ],
    ['a deletion', ['DELETED listed 0'], () => client.delete(reference('listed'))],
    [
      'a short life, which the client never sees',
      ['ADDED later 0'],
      async () => {
        await create('brief')
        await client.delete(reference('brief'))
        await create('later')
      },
    ],
    [
      'a deletion and a new object of the same name',
      ['DELETED listed 0', 'ADDED listed 0'],
      async () => {
        await client.delete(reference('listed'))
        await create('listed')
      },
    ],
  ]
  const before = cluster().snapshot()
  for (const [title, events, write] of rows) {
    await cluster().restore(before)
    faults.add({ action: { watch: { skip: 1 } } })
    await write()
    assert.deepEqual(await eventsOf(events.length, resourceVersion), events, title)
  }
})

test('a watch that is gone ends at once', async () => {
  cluster().faults.add({ action: { watch: { gone: true } } })
  await assert.rejects(eventsOf(1, ''), (error: FailedRequest) => error.code === 410)
})

test('stale state: one client reads and watches an older state, others do not', async () => {
  await writeThree()
  const { faults } = cluster()
  faults.add({ match: { user: 'slow' }, action: { stale: { revisions: 2 } } })
  const slow = cluster().as('slow', { groups: ['system:masters'] })
  const old = await slow.get(reference('a'))
  assert.equal(old.data.value, '0')
  assert.equal((await cluster().client.get(reference('a'))).data.value, '2')
  await assert.rejects(
    slow.update({ ...old, data: { value: '3' } }),
    (error: FailedRequest) => error.code === 409,
  )
  const events: string[] = []
  const { resourceVersion } = old.metadata
  const signal = AbortSignal.timeout(5000)
  const watching = (async () => {
    for await (const event of slow.watch(reference(), { resourceVersion, signal })) {
      events.push(event.object.data.value)
      if (events.length === 2) return
    }
  })()
  await create('b')
  await create('c')
  await watching
  assert.deepEqual(events, ['1', '2'])
})

test('intermediate states: a callback runs between the commit and the response', async () => {
  const seen: unknown[] = []
  const { faults, client } = cluster()
  await exists('nothing')
  faults.add({
    match: { verb: 'create', nth: 2 },
    action: { call: async ({ url }) => seen.push(url, await exists('second')) },
  })
  await create('first')
  await create('second')
  assert.deepEqual(seen, ['/api/v1/namespaces/default/configmaps', true])
  await client.delete(reference('first'))
})

test('the store: slow, full, unavailable, compacted', async () => {
  const { faults, store, client } = cluster()
  await create('a')
  await create('kept')
  const { resourceVersion } = (await client.list(reference(), { limit: 1 })).metadata
  store.fail('full')
  assert.equal(await outcome(create('b')), 503)
  assert.equal(await outcome(client.delete(reference('a'))), 200)
  store.fail('unavailable')
  const uses: [title: string, use: () => Promise<unknown>][] = [
    ['delete', () => client.delete(reference('kept'))],
    ['create', () => create('c')],
    ['get', () => client.get(reference('kept'))],
    ['list', () => client.list(reference())],
    [
      'a stale get',
      () =>
        cluster()
          .as('slow', { groups: ['system:masters'] })
          .get(reference('kept')),
    ],
  ]
  faults.add({ match: { user: 'slow' }, action: { stale: { revisions: 1 } } })
  for (const [title, use] of uses) assert.equal(await outcome(use()), 503, title)
  store.recover()
  store.slow(50)
  for (const [title, use] of uses.slice(1)) {
    const began = performance.now()
    await use()
    assert.ok(performance.now() - began >= 49, title)
  }
  store.recover()
  await store.compact()
  const old = { resourceVersion, resourceVersionMatch: 'Exact' }
  assert.equal(await outcome(client.list(reference(), old as object)), 410)
})

test('a cluster whose store was unavailable at first works once it recovers', async () => {
  await using mine = await cluster().fork()
  mine.store.fail('unavailable')
  assert.equal(await outcome(mine.client.get(reference('a'))), 503)
  mine.store.recover()
  assert.equal(await outcome(mine.client.get(reference('a'))), 404)
})

test('the period of a rule follows the clock of the cluster', async () => {
  const { clock, faults } = cluster()
  await exists('nothing')
  clock.freeze()
  faults.add({ match: { forMs: 60_000 }, action: { error: { code: 429 } } })
  assert.equal(await outcome(create('a')), 429)
  await clock.advance('2m')
  assert.equal(await outcome(create('a')), 200)
  clock.resume()
})

test('invalid values of the store are rejected', () => {
  const { store } = cluster()
  assert.throws(() => store.slow(-1), /the delay must be at least 0, not -1/)
  assert.throws(() => store.fail('broken' as 'full'), /must be one of full, unavailable/)
})

test('an invalid rule is rejected with the path of the mistake', () => {
  const rows: [rule: unknown, message: RegExp][] = [
    [{}, /needs an action/],
    [{ action: { eror: {} } }, /action\.eror is unknown; action accepts error, when/],
    [{ action: { error: { code: 200 } } }, /action\.error\.code must be at least 400, not 200/],
    [{ action: { error: { code: 409, retryAfter: 5 } } }, /action\.error\.retryAfter is unknown/],
    [{ action: { error: {} } }, /action\.error needs code/],
    [{ action: { delayMs: 1, cut: 'before' } }, /exactly one action/],
    [{ action: { delayMs: -1 } }, /action\.delayMs must be at least 0/],
    [{ action: { delayMs: 1, when: 'after' } }, /action\.when belongs to an error/],
    [{ action: { watch: { endAfter: 'x' } } }, /action\.watch\.endAfter must be a whole number/],
    [{ action: { watch: 1 } }, /action\.watch must be an object/],
    [{ action: { hook: 'x' } }, /action\.hook must be a URL/],
    [{ action: { call: 1 } }, /action\.call must be a function/],
    [{ match: { verb: 'read' }, action: { delayMs: 1 } }, /match\.verb must be one of get, list/],
    [{ match: { verb: ['get', 'x'] }, action: { delayMs: 1 } }, /match\.verb\[1\] must be one/],
    [{ match: { nth: 'two' }, action: { delayMs: 1 } }, /match\.nth must be a whole number/],
    [{ match: { nth: 0 }, action: { delayMs: 1 } }, /match\.nth must be at least 1/],
    [{ match: { probability: 2 }, action: { delayMs: 1 } }, /match\.probability must be at most 1/],
    [{ match: { agent: 'x' }, action: { delayMs: 1 } }, /match\.agent is unknown/],
  ]
  for (const [rule, message] of rows)
    assert.throws(() => cluster().faults.add(rule as FaultRule), message)
})
