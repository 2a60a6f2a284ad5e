/**
 * Conversions of HorizontalPodAutoscaler. v1 has only a CPU target and keeps other metrics in
 * annotations. v2beta1 has metrics in an older shape. The hub is v2, or v2beta2 in releases without
 * v2; they differ in which empty fields are written.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { loadLater } from '#base/load-later.ts'
import { annotate, annotationOf, dropAnnotations, goJson } from '#kinds/all-kinds/annotations.ts'
import {
  behaviourFromAnnotation,
  behaviourKey,
  behaviourToAnnotation,
} from './behavior-annotation.ts'
import {
  newerMetric,
  newerMetricStatus,
  olderMetric,
  olderMetricStatus,
} from './autoscaler-metrics.ts'
import type { Conversion, Conversions } from '#kinds/all-kinds/conversion.ts'

export const servesAutoscalingV2 = change('autoscaling/v2 is served', { since: 23 })

const metricsKey = 'autoscaling.alpha.kubernetes.io/metrics'
const currentMetricsKey = 'autoscaling.alpha.kubernetes.io/current-metrics'
const conditionsKey = 'autoscaling.alpha.kubernetes.io/conditions'
/** Annotations that represent fields. They are removed in versions that have these fields. */
export const autoscalerAnnotations: readonly string[] = [
  metricsKey,
  currentMetricsKey,
  conditionsKey,
  behaviourKey,
]

const utilizationDefault = 80
const cpuMetric = (share: number): Loose => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: share } },
})
const isCpu = (metric: Loose): boolean =>
  metric.type === 'Resource' && metric.resource?.name === 'cpu'

const load = loadLater<typeof import('./autoscaler-annotation.ts')>(
  import.meta.url,
  './autoscaler-annotation',
)

const readers = {
  [metricsKey]: (text: string) => load().readMetrics(text),
  [currentMetricsKey]: (text: string) => load().readCurrentMetrics(text),
  [conditionsKey]: (text: string) => load().readConditions(text),
}

const arrayIn = (object: KubeObject, key: keyof typeof readers): Loose[] | undefined => {
  const text = annotationOf(object, key)
  return text === undefined ? undefined : readers[key](text)
}

function fromV1(object: KubeObject, release: number): KubeObject {
  const spec: Loose = (object.spec ??= {})
  const status: Loose = (object.status ??= {})
  const share: number | undefined = spec.targetCPUUtilizationPercentage
  delete spec.targetCPUUtilizationPercentage
  const own = share === undefined ? [] : [cpuMetric(share)]
  const others = arrayIn(object, metricsKey)?.map(newerMetric) ?? []
  const metrics = [...others, ...own]
  spec.metrics = metrics.length > 0 ? metrics : [cpuMetric(utilizationDefault)]
  behaviourFromAnnotation(object, release)
  const current: number | undefined = status.currentCPUUtilizationPercentage
  delete status.currentCPUUtilizationPercentage
  const cpuStatus = { name: 'cpu', current: { averageUtilization: current } }
  const ownStatus = current === undefined ? null : [{ type: 'Resource', resource: cpuStatus }]
  status.currentMetrics = arrayIn(object, currentMetricsKey)?.map(newerMetricStatus) ?? ownStatus
  status.conditions = arrayIn(object, conditionsKey) ?? null
  dropAnnotations(object, autoscalerAnnotations)
  return withoutEmpty(object, release)
}

/** Empty fields of a status that v2 leaves out, where v2 is the hub. */
function withoutEmpty(object: KubeObject, release: number): KubeObject {
  const { status } = object
  if (status === undefined || !releaseOf(release).has(servesAutoscalingV2)) return object
  if (!status.currentReplicas) delete status.currentReplicas
  if (!status.conditions?.length) delete status.conditions
  return object
}

function toV1(object: KubeObject): KubeObject {
  const spec: Loose = (object.spec ??= {})
  const status: Loose = (object.status ??= {})
  dropAnnotations(object, autoscalerAnnotations)
  const metrics: Loose[] = spec.metrics ?? []
  delete spec.metrics
  const share = metrics.find(isCpu)?.resource.target?.averageUtilization
  if (share !== undefined) spec.targetCPUUtilizationPercentage = share
  const others = metrics.filter(
    (metric) => !isCpu(metric) || metric.resource.target?.averageUtilization === undefined,
  )
  if (others.length > 0) annotate(object, metricsKey, goJson(others.map(olderMetric)))
  behaviourToAnnotation(object)
  statusToV1(object, status)
  return object
}

function statusToV1(object: KubeObject, status: Loose): void {
  const { currentMetrics, conditions } = status
  delete status.currentMetrics
  delete status.conditions
  status.currentReplicas ??= 0
  if (currentMetrics?.length > 0) {
    annotate(object, currentMetricsKey, goJson(currentMetrics.map(olderMetricStatus)))
    const current = currentMetrics.findLast(isCpu)?.resource.current?.averageUtilization
    if (current !== undefined) status.currentCPUUtilizationPercentage = current
  }
  if (conditions?.length > 0) annotate(object, conditionsKey, goJson(conditions))
}

function fromV2beta1(object: KubeObject, release: number): KubeObject {
  if (object.spec?.metrics) object.spec.metrics = object.spec.metrics.map(newerMetric)
  behaviourFromAnnotation(object, release)
  const current = object.status?.currentMetrics
  if (current) object.status.currentMetrics = current.map(newerMetricStatus)
  dropAnnotations(object, autoscalerAnnotations)
  return withoutEmpty(object, release)
}

function toV2beta1(object: KubeObject): KubeObject {
  dropAnnotations(object, autoscalerAnnotations)
  if (object.spec?.metrics) object.spec.metrics = object.spec.metrics.map(olderMetric)
  behaviourToAnnotation(object)
  const current = object.status?.currentMetrics
  if (current) object.status.currentMetrics = current.map(olderMetricStatus)
  return withEmpty(object)
}

/** Empty status fields that every version except v2 writes. */
function withEmpty(object: KubeObject): KubeObject {
  const { status } = object
  if (status === undefined) return object
  status.currentReplicas ??= 0
  status.conditions ??= null
  return object
}

const v1: Conversion = { toHub: fromV1, fromHub: toV1 }
const v2beta1: Conversion = { toHub: fromV2beta1, fromHub: toV2beta1 }

export const horizontalPodAutoscalerConversions: Conversions = {
  'autoscaling/v1': v1,
  'autoscaling/v2beta1': v2beta1,
  'autoscaling/v2beta2': { toHub: withoutEmpty, fromHub: withEmpty },
}
