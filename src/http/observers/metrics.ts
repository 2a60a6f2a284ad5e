/**
 * Records each routed request: its status, its duration and the size of its response. The counters
 * of a route are found by three small maps, without building a string for the lookup.
 */
import type { Exchange } from '#http/exchange.ts'
import type { Observer } from '#http/parts.ts'
import type { RequestTarget } from '#http/request/request-target.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Distribution, MetricValue } from '#observe/metrics/metric.ts'
import type { ServerMetrics } from '#observe/metrics/server-metrics.ts'
import { dryRunLabel, isLongRunning, reportedVerb, type Scope, scopeOf } from './request-place.ts'

const component = 'apiserver'
const selfName = 'system:apiserver'

/** The counters of one route, verb, scope and dry-run setting. */
class RouteMeter {
  readonly #metrics: ServerMetrics
  readonly #verb: string
  readonly #place: readonly string[]
  readonly #dryRun: string
  readonly #byStatus = new Map<number, MetricValue>()
  readonly durations: Distribution
  /** Set only for reads. */
  readonly sizes: Distribution | undefined

  constructor(metrics: ServerMetrics, verb: string, dryRun: string, place: readonly string[]) {
    this.#metrics = metrics
    this.#verb = verb
    this.#dryRun = dryRun
    this.#place = place
    this.durations = metrics.durations.labels(verb, dryRun, ...place)
    this.sizes =
      verb === 'GET' || verb === 'LIST' ? metrics.answerSizes.labels(verb, ...place) : undefined
  }

  answered(status: number): MetricValue {
    let counted = this.#byStatus.get(status)
    if (counted === undefined) {
      const { requests, olderRequestLabels } = this.#metrics
      counted = requests.labels(
        this.#verb,
        this.#dryRun,
        ...this.#place,
        ...olderRequestLabels,
        String(status),
      )
      this.#byStatus.set(status, counted)
    }
    return counted
  }
}

/**
 * Non-resource paths that are counted. Others are not, because clients could request any number of
 * paths.
 */
const countedPath = /^\/(healthz|livez|readyz|metrics|version|openapi\/v2)(\/|$)/

export class MetricsObserver implements Observer {
  readonly #metrics: ServerMetrics
  readonly #monotonicMs: () => number
  readonly #byKind = new WeakMap<Kind, Map<string, Map<string, RouteMeter>>>()
  readonly #byPath = new Map<string, RouteMeter>()

  constructor(metrics: ServerMetrics, monotonicMs: () => number) {
    this.#metrics = metrics
    this.#monotonicMs = monotonicMs
  }

  begin = (exchange: Exchange): void => {
    if (!isLongRunning(exchange.target)) return
    exchange.running = this.#metrics.longRunning.labels(...Object.values(runningLabels(exchange)))
    exchange.running.add(1)
  }

  end = (exchange: Exchange): void => {
    if (exchange.running !== undefined) this.#endRunning(exchange, exchange.running)
    const meter =
      exchange.kind === undefined ? this.#ofPath(exchange) : this.#ofKind(exchange, exchange.kind)
    if (meter === undefined) return
    meter.answered(exchange.status).value++
    meter.durations.observe((this.#monotonicMs() - exchange.startedAt) / 1000)
    meter.sizes?.observe(exchange.answeredBytes)
  }

  /**
   * Counters of unknown paths and subresources are removed when they reach 0, because clients could
   * create any number of them.
   */
  #endRunning(exchange: Exchange, running: NonNullable<Exchange['running']>): void {
    running.add(-1)
    exchange.running = undefined
    const { kind, target } = exchange
    const isLost = kind === undefined || isUnknownSubresource(target, kind)
    if (isLost && running.value === 0) this.#metrics.longRunning.forget(runningLabels(exchange))
  }

  #ofKind(exchange: Exchange, kind: Kind): RouteMeter | undefined {
    let bySubresource = this.#byKind.get(kind)
    if (bySubresource === undefined) this.#byKind.set(kind, (bySubresource = new Map()))
    const { target } = exchange
    const scope = scopeOf(target)
    const verb = reportedVerb(exchange, scope)
    const dryRun = dryRunLabel(exchange)
    // Both parts come from small sets, so the number of joined strings is small.
    const way = dryRun === '' ? waysOf(verb, scope) : `${verb} ${scope} ${dryRun}`
    let byWay = bySubresource.get(target.subresource)
    if (byWay === undefined) {
      if (isUnknownSubresource(target, kind)) return undefined
      bySubresource.set(target.subresource, (byWay = new Map()))
    }
    let meter = byWay.get(way)
    if (meter === undefined) {
      const { group, version, plural } = kind
      const place = [group, version, plural, target.subresource, scope, component]
      meter = new RouteMeter(this.#metrics, verb, dryRun, place)
      byWay.set(way, meter)
      if (kind.deprecation !== undefined) {
        const { removedRelease } = kind.deprecation
        this.#metrics.deprecated
          .labels(group, version, plural, target.subresource, removedRelease)
          .set(1)
      }
    }
    if (exchange.user.name === selfName) {
      const group = this.#metrics.labelsNameGroups ? [kind.group] : []
      this.#metrics.selfRequests.labels(verb, ...group, kind.plural, target.subresource).add(1)
    }
    if (exchange.status === 0) {
      this.#metrics.aborted
        .labels(verb, kind.group, kind.version, kind.plural, target.subresource, scope)
        .add(1)
    }
    return meter
  }

  #ofPath(exchange: Exchange): RouteMeter | undefined {
    const { path, isResource, verb } = exchange.target
    // A request that was rejected before routing may have any path.
    const isLost = exchange.refusal !== undefined || exchange.status === 404
    if (isResource || isLost || verb !== 'get' || !countedPath.test(path)) return undefined
    let meter = this.#byPath.get(path)
    if (meter === undefined) {
      meter = new RouteMeter(this.#metrics, 'GET', '', ['', '', '', path, '', component])
      this.#byPath.set(path, meter)
    }
    return meter
  }
}

/** The labels of a long-running request, in order. */
function runningLabels(exchange: Exchange) {
  const { target } = exchange
  const scope = scopeOf(target)
  const { group, version, resource, subresource, isResource, path } = target
  return {
    verb: reportedVerb(exchange, scope),
    ...(isResource
      ? { group, version, resource, subresource }
      : { group: '', version: '', resource: '', subresource: path }),
    scope,
    component,
  }
}

/**
 * Such requests have no route and are not counted, because clients could create any number of them.
 */
const isUnknownSubresource = ({ subresource }: RequestTarget, { subresources }: Kind): boolean =>
  subresource !== '' && !subresources.has(subresource)

const ways = new Map<string, Map<Scope, string>>()

function waysOf(verb: string, scope: Scope): string {
  let byScope = ways.get(verb)
  if (byScope === undefined) ways.set(verb, (byScope = new Map()))
  let way = byScope.get(scope)
  if (way === undefined) byScope.set(scope, (way = `${verb} ${scope}`))
  return way
}
