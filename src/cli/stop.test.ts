/**
 * Stopping: the server closes before the process exits, a second signal ends at once, one key press
 * may arrive twice.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readyLines, stateText } from './ready-lines.ts'
import { ClosedWithProblems } from '#server/closing.ts'
import { type Host, stopOnSignal } from './stop.ts'

/** A process that only records calls. */
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

const rows: [title: string, close: () => Promise<void>, code: number, printed: string[]][] = [
  ['a server that closes', async () => {}, 0, []],
  [
    'a server that closes with problems',
    () => Promise.reject(new ClosedWithProblems(['watches: no', 'store: full'])),
    1,
    ['watches: no', 'store: full'],
  ],
  ['a server that fails to close', () => Promise.reject(new Error('no')), 1, ['no']],
]
for (const [title, close, code, printed] of rows)
  test(`${title}: the process exits with ${code}`, async () => {
    const host = new FakeHost()
    const lines: string[] = []
    stopOnSignal(close, (text) => lines.push(text), host)
    host.heard?.('SIGTERM')
    await host.exited
    assert.deepEqual(host.exits, [code])
    assert.deepEqual(lines, ['SIGTERM: stopping', ...printed, 'stopped'])
  })

test('a second signal ends the process at once, a repeated Ctrl-C does not', () => {
  const host = new FakeHost()
  const lines: string[] = []
  stopOnSignal(
    () => new Promise(() => {}),
    (text) => lines.push(text),
    host,
  )
  host.heard?.('SIGINT')
  host.nowMs = 100
  host.heard?.('SIGINT')
  assert.deepEqual(host.exits, [])
  host.nowMs = 2000
  host.heard?.('SIGINT')
  assert.deepEqual(host.exits, [1])
  assert.deepEqual(lines, ['SIGINT: stopping', 'SIGINT again: ending at once'])
})

test('the lines of a ready server', () => {
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
      '  kubectl create configmap hello --from-literal=who=world',
      '  kubectl get configmaps --watch',
      '',
    ].join('\n'),
  )
})
