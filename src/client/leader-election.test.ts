import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { alreadyExists, conflict, notFound, serviceUnavailable } from '#api/status-error.ts'
import { until } from '#base/until.fixture.ts'
import type { ApiClient } from './client.ts'
import { type ElectionOptions, runForLeader } from './leader-election.ts'

const leases = { group: 'coordination.k8s.io', plural: 'leases' }

/** A clock that only the test advances: a busy machine does not make a candidate late. */
class Time {
  ms = 1_600_000_000_000
  now = () => this.ms
  elapsed = () => this.ms
}

/** One lease, with the versions that make races visible. */
class OneLease {
  lease: KubeObject | undefined
  version = 0
  reads = 0
  away = false
  silent = false

  client(): ApiClient {
    return {
      get: async () => {
        this.reads++
        if (this.silent) return new Promise(() => {})
        this.#reach()
        if (this.lease === undefined) throw notFound(leases, 'l')
        return structuredClone(this.lease)
      },
      create: async (_: unknown, __: unknown, object: KubeObject) => {
        this.#reach()
        if (this.lease !== undefined) throw alreadyExists(leases, 'l')
        return this.#write(object)
      },
      update: async (_: unknown, object: KubeObject) => {
        this.#reach()
        if (object.metadata.resourceVersion !== String(this.version))
          throw conflict(leases, 'l', 'modified')
        return this.#write(object)
      },
    } as unknown as ApiClient
  }

  #reach() {
    if (this.away) throw serviceUnavailable('away')
  }

  #write(object: KubeObject): KubeObject {
    this.lease = structuredClone(object)
    this.lease.metadata.resourceVersion = String(++this.version)
    return structuredClone(this.lease)
  }
}

function candidate(
  client: ApiClient,
  identity: string,
  leaders: Set<string>,
  clock: Time,
  times: Partial<ElectionOptions> = { leaseDurationMs: 1000, renewDeadlineMs: 100 },
) {
  const stop = new AbortController()
  const ended = runForLeader({
    client,
    namespace: 'kube-system',
    name: 'l',
    identity,
    clock,
    signal: stop.signal,
    report: () => {},
    retryPeriodMs: 10,
    ...times,
    lead(signal) {
      leaders.add(identity)
      signal.addEventListener('abort', () => leaders.delete(identity))
    },
  })
  return async () => {
    stop.abort()
    await ended
  }
}

test('one of several servers leads, and another one when it stops', async () => {
  const one = new OneLease()
  const leaders = new Set<string>()
  const clock = new Time()
  const stops = new Map(
    ['a', 'b', 'c'].map((name) => [name, candidate(one.client(), name, leaders, clock)]),
  )
  await until('a leader', () => leaders.size > 0)
  const readsBefore = one.reads
  await until('all to have looked', () => one.reads > readsBefore + 6)
  assert.equal(leaders.size, 1)
  const [first] = leaders as Set<string>
  assert.equal(one.lease?.spec.holderIdentity, first)
  assert.match(one.lease?.spec.renewTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  await stops.get(first as string)?.()
  assert.equal(leaders.size, 0)
  await until('another one', () => leaders.size > 0)
  assert.ok(!leaders.has(first as string))
  assert.equal(one.lease?.spec.leaseTransitions > 0, true)
  for (const stop of stops.values()) await stop()
})

test('a leader that cannot renew stops leading, and its lease is taken over', async () => {
  const one = new OneLease()
  const leaders = new Set<string>()
  const clock = new Time()
  const stop = candidate(one.client(), 'a', leaders, clock)
  await until('a to lead', () => leaders.has('a'))
  one.away = true
  clock.ms += 200
  await until('a to give up', () => leaders.size === 0)
  one.away = false
  // The first server still holds the lease, and leads again.
  await until('a to lead again', () => leaders.has('a'))
  one.away = true
  await stop()
  one.away = false
  const other = candidate(one.client(), 'b', leaders, clock)
  for (const passedMs of [0, 900]) {
    clock.ms += passedMs
    const before = one.reads
    await until('b to look', () => one.reads > before + 3)
    assert.equal(leaders.size, 0, 'the lease is not over yet')
  }
  clock.ms += 200
  await until('b to lead', () => leaders.has('b'))
  await other()
})

test('a leader whose last request gets no response stops at its deadline', async () => {
  const one = new OneLease()
  const leaders = new Set<string>()
  const clock = new Time()
  const times = { leaseDurationMs: 900_000, renewDeadlineMs: 600_000 }
  const stop = candidate(one.client(), 'a', leaders, clock, times)
  await until('a to lead', () => leaders.has('a'))
  one.away = true
  clock.ms += 599_000
  const before = one.reads
  await until('a to have tried', () => one.reads > before + 1)
  assert.ok(leaders.has('a'), 'its time is not over yet')
  one.silent = true
  clock.ms += 2000
  await until('a to give up', () => leaders.size === 0)
  one.silent = false
  await stop()
})

test('a leader stops at its deadline, however long its retry period is', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const one = new OneLease()
  const leaders = new Set<string>()
  const clock = new Time()
  const pass = async (ms: number) => {
    clock.ms += ms
    t.mock.timers.tick(ms)
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }
  const times = { leaseDurationMs: 15_000, renewDeadlineMs: 14_000, retryPeriodMs: 10_000 }
  const stop = candidate(one.client(), 'a', leaders, clock, times)
  await pass(0)
  assert.ok(leaders.has('a'))
  one.away = true
  await pass(10_000)
  assert.equal(one.reads, 2)
  assert.ok(leaders.has('a'), 'its time is not over yet')
  await pass(4000)
  await pass(0)
  assert.equal(leaders.size, 0)
  await stop()
})

test('a leader that cannot release its lease ends nevertheless', async () => {
  const one = new OneLease()
  const leaders = new Set<string>()
  const stop = candidate(one.client(), 'a', leaders, new Time())
  await until('a to lead', () => leaders.has('a'))
  one.silent = true
  await stop()
  assert.equal(leaders.size, 0)
})
