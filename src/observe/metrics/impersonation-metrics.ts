/** Metrics of constrained impersonation, by the mode that decided. */
import { change } from '#api/releases/change.ts'
import { counter, exponentialBounds, histogram } from './metric.ts'
import type { Registry } from './registry.ts'

const bounds = exponentialBounds(0.001, 2, 15)
const metersImpersonation = change('metrics count and time impersonation', { since: 36 })
const life = { stability: 'ALPHA', only: metersImpersonation } as const

export function impersonationMetrics(registry: Registry) {
  const measured = (of: string, counted: string, timed: string) => {
    const name = `apiserver_impersonation_${of}`
    const counts = registry.register(counter(`${name}_total`, 'mode', 'decision'), counted, life)
    const durations = registry.register(
      histogram(`${name}_duration_seconds`, bounds, 'mode', 'decision'),
      timed,
      life,
    )
    return (mode: string, isAllowed: boolean, tookMs: number): void => {
      const decision = isAllowed ? 'allowed' : 'denied'
      counts.labels(mode, decision).add(1)
      durations.labels(mode, decision).observe(tookMs / 1000)
    }
  }
  return {
    attempted: measured(
      'attempts',
      'Requests with impersonation, by the mode that allowed it.',
      'How long all checks of a request took, in seconds.',
    ),
    authorized: measured(
      'authorization_attempts',
      'Permissions that impersonation checked, by mode.',
      'How long the check of one permission took, in seconds.',
    ),
  }
}
