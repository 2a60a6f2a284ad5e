/** Metrics of configuration files that the API server reads again when they change. */
import { createHash } from 'node:crypto'
import { change } from '#api/releases/change.ts'
import { counter, gauge } from './metric.ts'
import type { Registry } from './registry.ts'

const metersReloads = change('metrics count reloads of the configuration of access', { since: 30 })
const reloadsAreBeta = change('metrics of reloads of the configuration of access are BETA', {
  since: 34,
})
const life = { stability: 'ALPHA', beta: reloadsAreBeta, only: metersReloads } as const

/** `serverId` is the identity of the API server; empty if it has none. */
export function reloadMeter(
  registry: Registry,
  configuration: 'authentication' | 'authorization',
  serverId: string,
  nowMs: () => number,
): (isLoaded: boolean) => void {
  const prefix = `apiserver_${configuration}_config_controller_automatic_reload`
  const labels = ['status', 'apiserver_id_hash']
  const counts = registry.register(
    counter(`${prefix}s_total`, ...labels),
    `Reloads of the ${configuration} configuration, by status.`,
    life,
  )
  const times = registry.register(
    gauge(`${prefix}_last_timestamp_seconds`, ...labels),
    `When the ${configuration} configuration was last reloaded, in seconds since 1970, by status.`,
    life,
  )
  const hash =
    serverId === '' ? '' : `sha256:${createHash('sha256').update(serverId).digest('hex')}`
  return (isLoaded) => {
    const status = isLoaded ? 'success' : 'failure'
    counts.labels(status, hash).add(1)
    times.labels(status, hash).set(nowMs() / 1000)
  }
}
