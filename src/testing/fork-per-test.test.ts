import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forkPerTestWith, type TestHooks } from './fork-per-test.ts'
import type { TestCluster } from './test-cluster.ts'

type Run = () => Promise<void>

/** A test runner that records the registered hooks. */
function runner(before: string, after: string) {
  const hooks: Record<string, Run> = {}
  const register = (name: string) => (run: Run) => {
    hooks[name] = run
  }
  const names = [before, after, 'beforeEach', 'afterEach']
  const given = Object.fromEntries(names.map((name) => [name, register(name)]))
  return { hooks, given: given as unknown as TestHooks }
}

for (const [title, before, after] of [
  ['node:test', 'before', 'after'],
  ['Vitest and Jest', 'beforeAll', 'afterAll'],
] as const)
  test(`one server for the file and one fork for each test, with ${title}`, async () => {
    const seen: string[] = []
    const clusterNamed = (name: string): TestCluster =>
      ({
        name,
        fork: async () => clusterNamed(`fork of ${name}`),
        close: async () => void seen.push(`close ${name}`),
      }) as unknown as TestCluster
    const start = async () => clusterNamed('first')
    const { hooks, given } = runner(before, after)
    const prepare = async ({ name }: TestCluster) => void seen.push(`prepare ${name}`)
    const cluster = forkPerTestWith(start, given, prepare)
    assert.throws(() => cluster(), /only while a test runs/)
    await hooks[before]?.()
    for (let i = 0; i < 2; i++) {
      await hooks['beforeEach']?.()
      assert.equal(cluster().name, 'fork of first')
      await hooks['afterEach']?.()
    }
    assert.throws(() => cluster(), /only while a test runs/)
    await hooks[after]?.()
    const closed = 'close fork of first'
    assert.deepEqual(seen, ['prepare first', closed, closed, 'close first'])
  })
