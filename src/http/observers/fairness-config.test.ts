import assert from 'node:assert/strict'
import test from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { followFairness } from './fairness-config.ts'

interface Follower {
  changed(object: KubeObject): void
  deleted(object: KubeObject): void
}

const level = (name: string) => ({ metadata: { name } }) as KubeObject
const schemaOf = (name: string, of: string, conditions?: Loose[]) =>
  ({
    metadata: { name },
    spec: { priorityLevelConfiguration: { name: of } },
    ...(conditions && { status: { conditions } }),
  }) as KubeObject

/** Runs all pending callbacks. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

async function scene(answer: (name: string) => void = () => {}, release = 25) {
  const followers: Record<string, Follower> = {}
  const patches: string[] = []
  const reports: string[] = []
  const configured: string[] = []
  const ended: string[] = []
  let nowMs = 0
  const { stop } = await followFairness({
    flows: {
      configure: (levels: KubeObject[], schemas: KubeObject[]) =>
        configured.push([levels, schemas].map((of) => of.map((o) => o.metadata.name)).join(' / ')),
    },
    reader: {
      follow: async (_group: string, plural: string, follower: Follower) => {
        followers[plural] = follower
        return () => ended.push(plural)
      },
    },
    client: {
      patch: async (_of: unknown, _namespace: string, name: string, { status }: Loose) => {
        const [{ type, reason }] = status.conditions.slice(-1)
        patches.push(`${name}: ${type} ${reason}`)
        answer(name)
        return { ...schemaOf(name, name), status }
      },
      apply: async (_of: unknown, { metadata, status }: Loose, manager: string) => {
        const types = status.conditions.map(({ type }: Loose) => type).join()
        patches.push(`${metadata.name}: ${types} applied by ${manager}`)
        return { ...schemaOf(metadata.name, metadata.name), status }
      },
    },
    schemas: {},
    release,
    clock: { now: () => 0 },
    monotonicMs: () => nowMs,
    report: (message: string) => reports.push(message),
  } as never)
  return {
    levels: followers.prioritylevelconfigurations as Follower,
    schemas: followers.flowschemas as Follower,
    patches,
    reports,
    configured,
    ended,
    stop,
    pass: (ms: number) => (nowMs += ms),
  }
}

test('the status of a schema shows whether its level exists, written once', async () => {
  const { levels, schemas, patches, configured, ended, stop } = await scene()
  schemas.changed(schemaOf('a', 'a'))
  await turn()
  levels.changed(level('a'))
  await turn()
  await turn()
  assert.deepEqual(patches, ['a: Dangling NotFound', 'a: Dangling Found'])
  assert.equal(configured.at(-1), 'a / a')
  levels.deleted(level('a'))
  schemas.deleted(schemaOf('a', 'a'))
  await turn()
  assert.equal(patches.length, 2)
  assert.equal(configured.at(-1), ' / ')
  stop()
  assert.deepEqual(ended, ['prioritylevelconfigurations', 'flowschemas'])
  const before = configured.length
  levels.changed(level('b'))
  await turn()
  assert.equal(configured.length, before)
})

test('other conditions are kept', async () => {
  const { schemas, patches } = await scene()
  schemas.changed(schemaOf('a', 'a', [{ type: 'Other', reason: 'Why' }]))
  await turn()
  assert.deepEqual(patches, ['a: Dangling NotFound'])
})

test('since 1.26 the condition is written by server-side apply', async () => {
  const { schemas, patches } = await scene(() => {}, 26)
  schemas.changed(schemaOf('a', 'a', [{ type: 'Other', reason: 'Why' }]))
  await turn()
  assert.deepEqual(patches, ['a: Dangling applied by api-priority-and-fairness-config-consumer-v1'])
})

const refusals: [code: number, reported: boolean][] = [
  [404, false],
  [409, false],
  [500, true],
]
for (const [code, reported] of refusals)
  test(`a write that fails with ${code} is retried a few times a minute${reported ? ', and reported' : ''}`, async () => {
    const { schemas, patches, reports, pass } = await scene(() => {
      throw new ApiError(code, 'Conflict', 'no')
    })
    schemas.changed(schemaOf('a', 'a'))
    for (let i = 0; i < 20; i++) await turn()
    assert.equal(patches.length, 6)
    assert.equal(reports.length, reported ? 6 : 0)
    pass(60_000)
    schemas.changed(schemaOf('a', 'a'))
    for (let i = 0; i < 20; i++) await turn()
    assert.equal(patches.length, 12)
  })
