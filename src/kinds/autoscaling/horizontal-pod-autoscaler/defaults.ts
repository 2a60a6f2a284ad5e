/** Defaults of HorizontalPodAutoscaler. Only versions with a metrics field get a default metric. */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { dropAnnotations } from '#kinds/all-kinds/annotations.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { windowIsOptional } from './behavior-annotation.ts'
import { autoscalerAnnotations } from './conversions.ts'

const utilization = 80

const withMinimum =
  (metric?: () => Loose): Defaulter =>
  (value) => {
    const spec: Loose = (value.spec ??= {})
    spec.minReplicas ??= 1
    if (metric !== undefined && !spec.metrics?.length) spec.metrics = [metric()]
  }

const v2beta1Metric = (): Loose => ({
  type: 'Resource',
  resource: { name: 'cpu', targetAverageUtilization: utilization },
})

const v2beta2Metric = (): Loose => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: utilization } },
})

const periodSeconds = 15

const scaleUp = (): Loose => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds },
    { type: 'Percent', value: 100, periodSeconds },
  ],
})

const scaleDown = (release: number): Loose => ({
  ...(!releaseOf(release).has(windowIsOptional) && { stabilizationWindowSeconds: null }),
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds }],
})

/**
 * Completes scaling rules with the defaults. A list of policies that the client wrote empty stays
 * empty.
 */
function complete(usual: Loose, rules: Loose | null | undefined): Loose {
  const own = Object.entries(rules ?? {}).filter(
    ([, value]) => value !== null && value !== undefined,
  )
  const completed: Loose = { ...usual, ...Object.fromEntries(own) }
  if (wasWrittenEmpty(rules, 'policies')) delete completed.policies
  return completed
}

const scalingBehaviour: Defaulter = (value, { release }) => {
  value.scaleUp = complete(scaleUp(), value.scaleUp)
  value.scaleDown = complete(scaleDown(release), value.scaleDown)
}

const defaultsAreValidated = change(
  'rules for autoscalers see the defaults of autoscaling/v2beta2',
  { since: 18 },
)

const usualMinimum = new WeakSet<object>()

/** Whether minReplicas is a default that validation does not see yet. */
export const minimumIsUsual = (spec: object): boolean => usualMinimum.has(spec)

/** v2beta2 has all fields, so annotations that represent fields are removed. */
const v2beta2: Defaulter = (value, context) => {
  const isUnseen =
    !releaseOf(context.release).has(defaultsAreValidated) &&
    (value.spec?.minReplicas ?? null) === null
  withMinimum(v2beta2Metric)(value, context)
  if (isUnseen) usualMinimum.add(value.spec)
  if (value.metadata) dropAnnotations(value as KubeObject, autoscalerAnnotations)
}

const autoscaler = 'HorizontalPodAutoscaler'

export const horizontalPodAutoscalerDefaults: Defaulters = {
  [`io.k8s.api.autoscaling.v1.${autoscaler}`]: withMinimum(),
  [`io.k8s.api.autoscaling.v2beta1.${autoscaler}`]: withMinimum(v2beta1Metric),
  [`io.k8s.api.autoscaling.v2beta2.${autoscaler}`]: v2beta2,
  [`io.k8s.api.autoscaling.v2beta2.${autoscaler}Behavior`]: scalingBehaviour,
  [`io.k8s.api.autoscaling.v2.${autoscaler}`]: v2beta2,
  [`io.k8s.api.autoscaling.v2.${autoscaler}Behavior`]: scalingBehaviour,
}
