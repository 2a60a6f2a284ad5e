/** /metrics: all metrics in the text format of Prometheus. */
import { change, releaseOf } from '#api/releases/change.ts'
import type { PathHandler } from '#http/parts.ts'
import { send } from '#http/response/respond.ts'
import type { CheckMetrics } from '#observe/metrics/check-metrics.ts'
import { metricsContentType, type Registry } from '#observe/metrics/registry.ts'

const textType = 'text/plain; charset=utf-8'
const shape = { contentType: metricsContentType }

export function metricsPath(registry: Registry): PathHandler {
  return {
    matches: (path) => path === '/metrics',
    handle: async (exchange) => send(exchange, 200, shape, Buffer.from(await registry.page())),
  }
}

export const checkMetricsUrl = '/metrics/slis'

export const measuresChecks = change('/metrics/slis has the results of health checks', {
  since: 27,
})

/** `resets`: DELETE clears the results. */
export function checkMetricsPath(
  metrics: () => CheckMetrics,
  resets: boolean,
  release: number,
): PathHandler {
  const isServed = releaseOf(release).has(measuresChecks)
  return {
    matches: (path) => isServed && path === checkMetricsUrl,
    async handle(exchange) {
      if (!resets || exchange.wire.method !== 'DELETE')
        return send(exchange, 200, shape, Buffer.from(await metrics().page()))
      metrics().reset()
      send(exchange, 200, { contentType: textType }, Buffer.from('metrics reset\n'))
    },
  }
}
