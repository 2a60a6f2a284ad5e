/** Metrics recorded during a request: authentication, authorization, and the events of watches. */
import type { Instruments } from '#http/parts.ts'
import type { WatchMeter } from '#http/watch/watch-stream.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ServerMetrics } from '#observe/metrics/server-metrics.ts'

/**
 * Well-known names are kept; others are replaced by a category, so that labels are few and contain
 * no personal data.
 */
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
  const authentication = keyed((result) => ({
    count: metrics.authentications.labels(result),
    durations: metrics.authenticationDurations.labels(result),
  }))
  const authorization = keyed((result) => ({
    count: metrics.authorizations.labels(result),
    durations: metrics.authorizationDurations.labels(result),
  }))
  const inAuthentication = metrics.filterDurations.labels('authentication')
  const inAuthorization = metrics.filterDurations.labels('authorization')
  const users = keyed((label) => metrics.users.labels(label))
  const meters = new WeakMap<Kind, WatchMeter>()
  return {
    authenticated(result, userName, tookMs) {
      const { count, durations } = authentication(result)
      count.value++
      durations.observe(tookMs / 1000)
      inAuthentication.observe(tookMs / 1000)
      if (result !== 'success') return
      users(userLabel(userName)).value++
    },
    authorized(result, tookMs) {
      const { count, durations } = authorization(result)
      count.value++
      durations.observe(tookMs / 1000)
      inAuthorization.observe(tookMs / 1000)
    },
    watch(kind) {
      let meter = meters.get(kind)
      if (meter === undefined) meters.set(kind, (meter = watchMeter(metrics, kind)))
      return meter
    },
  }
}

function keyed<Made>(make: (key: string) => Made): (key: string) => Made {
  const known = new Map<string, Made>()
  return (key) => {
    let made = known.get(key)
    if (made === undefined) known.set(key, (made = make(key)))
    return made
  }
}

function watchMeter(metrics: ServerMetrics, { group, version, kind, plural }: Kind): WatchMeter {
  const running = metrics.watchers.labels(group, version, kind)
  const labels = metrics.watchLabels(group, version, kind, plural)
  const events = metrics.watchEvents.labels(...labels)
  const sizes = metrics.watchEventSizes.labels(...labels)
  const resource = metrics.resourceLabels(group, plural)
  return {
    began(initialEvents) {
      running.add(1)
      if (initialEvents > 0) metrics.initEvents.labels(...resource).add(initialEvents)
    },
    sent(frames) {
      events.value += frames.length
      for (let i = 0; i < frames.length; i++) sizes.observe((frames[i] as Buffer).length)
    },
    ended(fellBehind) {
      running.add(-1)
      if (fellBehind) metrics.terminatedWatchers.labels(...resource).add(1)
    },
  }
}
