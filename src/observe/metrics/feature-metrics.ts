/** A metric that shows which feature gates are enabled. */
import { change } from '#api/releases/change.ts'
import { gauge } from './metric.ts'
import type { Registry } from './registry.ts'

const metersFeatures = change('the metric kubernetes_feature_enabled shows feature gates', {
  since: 26,
})
const featuresAreBeta = change('the metric kubernetes_feature_enabled is BETA', { since: 28 })

interface Gate {
  readonly stage: string
  readonly on: boolean
}

export function featureMetrics(registry: Registry, gates: ReadonlyMap<string, Gate>): void {
  const enabled = registry.register(
    gauge('kubernetes_feature_enabled', 'name', 'stage'),
    'Whether a feature gate is enabled: 1 or 0.',
    { stability: 'ALPHA', beta: featuresAreBeta, only: metersFeatures },
  )
  for (const [name, { stage, on }] of gates)
    enabled.labels(name, stage === 'GA' ? '' : stage).set(on ? 1 : 0)
}
