/** Stopping: steps in order, failures told, a second signal at once, one key press that arrives twice. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readyLines, stateText } from './ready-lines.ts'
import { type Host, type StopStep, stopOnSignal } from './stop.ts'

/** A process that only remembers. */
class FakeHost implements Host {
  heard: ((signal: string) => void) | undefined
  exits: number[] = []
  nowMs = 0
  readonly #end = Promise.withResolvers<void>()
  readonly exited = this.#end.promise
  on(_signal: string, heard: (signal: string) => void) {
    this.heard = heard
  }
  exit(code: number) {
    this.exits.push(code)
    this.#end.resolve()
  }
  now() {
    return this.nowMs
  }
}

async function stopWith(steps: StopStep[]) {
  const host = new FakeHost()
  const said: string[] = []
  stopOnSignal(steps, (text) => said.push(text), host)
  host.heard?.('SIGTERM')
  await host.exited
  return { host, said }
}

test('steps run one after another, then the process exits with 0', async () => {
  const order: string[] = []
  const step = (name: string): StopStep => ({
    name,
    run: async () => {
      await Promise.resolve()
      order.push(name)
    },
  })
  const { host, said } = await stopWith([step('readyz'), step('watches'), step('store')])
  assert.deepEqual(order, ['readyz', 'watches', 'store'])
  assert.deepEqual(host.exits, [0])
  assert.deepEqual(said, ['SIGTERM: stopping'])
})

test('a step that fails or never ends is told, the rest runs, the code is 1', async () => {
  let closed = false
  const { host, said } = await stopWith([
    { name: 'watches', run: () => Promise.reject(new Error('no')) },
    { name: 'requests', run: () => new Promise(() => {}), timeoutMs: 5 },
    { name: 'store', run: () => void (closed = true) },
  ])
  assert.ok(closed)
  assert.deepEqual(host.exits, [1])
  assert.deepEqual(said, ['SIGTERM: stopping', 'watches: no', 'requests: not done after 5 ms'])
})

test('a second signal ends at once, the same one arriving twice does not', async () => {
  const host = new FakeHost()
  const said: string[] = []
  stopOnSignal(
    [{ name: 'requests', run: () => new Promise(() => {}), timeoutMs: 50 }],
    (text) => said.push(text),
    host,
  )
  host.heard?.('SIGINT')
  host.nowMs = 100
  host.heard?.('SIGINT')
  assert.deepEqual(host.exits, [])
  host.nowMs = 2000
  host.heard?.('SIGINT')
  assert.deepEqual(host.exits, [1])
  assert.deepEqual(said, ['SIGINT: stopping', 'SIGINT again: ending at once'])
  await host.exited
})

test('the lines of a server that is ready', () => {
  const state = stateText({ storageBackend: 'sqlite', dataDir: '/some dir', etcdServers: [] })
  const ready = {
    url: 'https://127.0.0.1:6443',
    tookMs: 212.4,
    state,
    release: '1.22',
    kubeconfig: "/some dir/it's",
  }
  assert.equal(
    readyLines(ready),
    [
      'Binnacle is ready on https://127.0.0.1:6443 after 212 ms, as Kubernetes 1.22',
      '  state: /some dir',
      "  export KUBECONFIG='/some dir/it'\\''s'",
      '',
    ].join('\n'),
  )
})
