/** What is measured in the middle of a request: who asked, whether they may, and what watches are sent. */
import type { Instruments } from '#http/parts.ts'
import type { WatchMeter } from '#http/watch-stream.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Distribution, Value } from '#observe/metrics/metric.ts'
import type { ServerMetrics } from '#observe/metrics/server-metrics.ts'

interface Measured {
  readonly count: Value
  readonly durations: Distribution
}

/** Names every cluster has stay; others become what kind of name they are, which keeps them few and private. */
export function userLabel(name: string): string {
  if (knownNames.has(name)) return name
  return name.includes('@') ? 'email_id' : 'other'
}
const knownNames = new Set([
  'admin',
  'client',
  'kube_proxy',
  'kubelet',
  'system:serviceaccount:kube-system:default',
])

export function instruments(metrics: ServerMetrics): Instruments {
  const authentication = keyed<'success' | 'failure' | 'error'>((result) => ({
    count: metrics.authentications.labels(result),
    durations: metrics.authenticationDurations.labels(result),
  }))
  const authorization = keyed<string>((result) => ({
    count: metrics.authorizations.labels(result),
    durations: metrics.authorizationDurations.labels(result),
  }))
  const others = metrics.users.labels('other')
  const meters = new WeakMap<Kind, WatchMeter>()
  return {
    authenticated(result, userName, tookMs) {
      const { count, durations } = authentication(result)
      count.value++
      durations.observe(tookMs / 1000)
      if (result !== 'success') return
      const label = userLabel(userName)
      if (label === 'other') others.value++
      else metrics.users.labels(label).add(1)
    },
    authorized(result, tookMs) {
      const { count, durations } = authorization(result)
      count.value++
      durations.observe(tookMs / 1000)
    },
    watch(kind) {
      let meter = meters.get(kind)
      if (meter === undefined) meters.set(kind, (meter = watchMeter(metrics, kind)))
      return meter
    },
  }
}

function keyed<Key extends string>(make: (key: Key) => Measured): (key: Key) => Measured {
  const made = new Map<Key, Measured>()
  return (key) => {
    let measured = made.get(key)
    if (measured === undefined) made.set(key, (measured = make(key)))
    return measured
  }
}

function watchMeter(metrics: ServerMetrics, { group, version, kind, plural }: Kind): WatchMeter {
  const running = metrics.watchers.labels(group, version, kind)
  const events = metrics.watchEvents.labels(group, version, kind)
  const sizes = metrics.watchEventSizes.labels(group, version, kind)
  const resource = group === '' ? plural : `${plural}.${group}`
  return {
    began(initialEvents) {
      running.add(1)
      if (initialEvents > 0) metrics.initEvents.labels(resource).add(initialEvents)
    },
    sent(frames) {
      events.value += frames.length
      for (const frame of frames) sizes.observe(frame.length)
    },
    ended(fellBehind) {
      running.add(-1)
      if (fellBehind) metrics.terminatedWatchers.labels(resource).add(1)
    },
  }
}
