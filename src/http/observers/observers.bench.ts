/**
 * What metrics and fairness add to one request, in nanoseconds. Run by hand: node
 * src/http/observers/observers.bench.ts
 */
import type { Exchange } from '#http/exchange.ts'
import type { Kind } from '#kinds/kind.ts'
import { flowSchemas, priorityLevels } from '#observe/fairness/bootstrap.ts'
import { FlowControl } from '#observe/fairness/flow-control.ts'
import { flowMeters } from '#observe/fairness/flow-meters.ts'
import { Registry } from '#observe/metrics/registry.ts'
import { serverMetrics } from '#observe/metrics/server-metrics.ts'
import { fairnessObserver } from './fairness.ts'
import { InFlightMark } from './in-flight-mark.ts'
import { instruments } from './instruments.ts'
import { MetricsObserver } from './metrics.ts'

const rounds = 1_000_000
const monotonicMs = () => performance.now()
const registry = new Registry({ release: 22 })
const metrics = serverMetrics(registry, 22)
const flows = new FlowControl({
  release: 22,
  concurrencyMax: 600,
  waitMsMax: 15_000,
  after: () => () => {},
  meters: flowMeters(registry, 22),
  report: () => {},
})
const objects = (all: ReturnType<typeof flowSchemas>) =>
  all.map(({ name, spec }) => ({ metadata: { name, uid: name }, spec })) as never
flows.configure(objects(priorityLevels(22)), objects(flowSchemas(22)), 0)
const running = new InFlightMark(registry, metrics.inFlight)
const waiting = new InFlightMark(registry, metrics.inQueue)
const fairness = fairnessObserver({ flows, running, waiting, metrics, monotonicMs })
const counting = new MetricsObserver(metrics, monotonicMs)
const between = instruments(metrics)
const user = { name: 'joe', uid: '', groups: ['system:authenticated'], extra: {} }
const target = {
  isResource: true,
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: 'p',
  path: '/api/v1/namespaces/a/pods/p',
}
const kind = { group: '', version: 'v1', plural: 'pods' } as Kind
const exchange = {
  user,
  target,
  kind,
  query: new URLSearchParams(),
  wire: { method: 'GET', headers: {} },
  startedAt: monotonicMs(),
  status: 200,
  answeredBytes: 2000,
  seat: undefined,
  running: undefined,
} as unknown as Exchange

function time(name: string, run: () => void): void {
  for (let i = 0; i < rounds / 10; i++) run()
  const from = monotonicMs()
  for (let i = 0; i < rounds; i++) run()
  console.log(`${name}: ${(((monotonicMs() - from) / rounds) * 1e6).toFixed(0)} ns`)
}

time('metrics', () => {
  counting.begin(exchange)
  counting.end(exchange)
})
time('fairness', () => {
  fairness.begin?.(exchange)
  fairness.end?.(exchange)
})
time('authentication and authorisation', () => {
  between.authenticated('success', 'joe', monotonicMs() - exchange.startedAt)
  const began = monotonicMs()
  between.authorized('allowed', monotonicMs() - began)
})
