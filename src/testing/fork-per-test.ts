/**
 * A fixture for test runners: one server per test file, and a fork for each test, which is closed
 * afterwards.
 *
 *   import { after, afterEach, before, beforeEach, test } from 'node:test'
 *   import { forkPerTest } from 'binnacle/testing'
 *   const cluster = forkPerTest({ before, after, beforeEach, afterEach })
 *   test('…', async () => { await cluster().client.create(…) })
 */
import type { TestCluster } from './test-cluster.ts'

type Hook = (run: () => Promise<void>) => unknown

/** The hooks of node:test, or those of Vitest and Jest. */
export type TestHooks = { readonly beforeEach: Hook; readonly afterEach: Hook } & (
  | { readonly before: Hook; readonly after: Hook }
  | { readonly beforeAll: Hook; readonly afterAll: Hook }
)

/** Prepares the cluster that is forked for every test, for example with definitions. */
export type Prepare = (cluster: TestCluster) => Promise<unknown>

/** Registers the hooks. Returns a function that returns the fork of the current test. */
export function forkPerTestWith(
  start: () => Promise<TestCluster>,
  hooks: TestHooks,
  prepare: Prepare = () => Promise.resolve(),
): () => TestCluster {
  const [before, after] =
    'before' in hooks ? [hooks.before, hooks.after] : [hooks.beforeAll, hooks.afterAll]
  let shared: TestCluster | undefined
  let mine: TestCluster | undefined
  before(async () => {
    shared = await start()
    await prepare(shared)
  })
  after(async () => {
    await shared?.close()
  })
  hooks.beforeEach(async () => {
    mine = await shared?.fork()
  })
  hooks.afterEach(async () => {
    await mine?.close()
    mine = undefined
  })
  return () => {
    if (mine === undefined) throw new Error('a fork exists only while a test runs')
    return mine
  }
}
