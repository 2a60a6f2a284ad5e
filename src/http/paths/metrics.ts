/** /metrics: all metrics in the text format of Prometheus. */
import type { PathHandler } from '#http/parts.ts'
import { send } from '#http/respond.ts'
import { metricsContentType, type Registry } from '#observe/metrics/registry.ts'

const shape = { contentType: metricsContentType }

export function metricsPath(registry: Registry): PathHandler {
  return {
    matches: (path) => path === '/metrics',
    handle: async (exchange) => send(exchange, 200, shape, Buffer.from(await registry.page())),
  }
}
