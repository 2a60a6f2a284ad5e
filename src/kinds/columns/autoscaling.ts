/** Columns of HorizontalPodAutoscaler, on autoscaling/v2beta2. */
import type { Loose } from '#api/object-meta.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { ageOf } from './age.ts'
import { ageColumn, column, nameColumn } from './column.ts'

const unknown = '<unknown>'

/** Where a metric of a type keeps its target and its current value. */
const sources: Record<string, string> = {
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
  External: 'external',
  ContainerResource: 'containerResource',
}

function shownMetric(spec: Loose, status: Loose | undefined): string {
  const source = sources[spec.type]
  if (source === undefined) return '<unknown type>'
  const target = spec[source]?.target ?? {}
  const current = status?.[source]?.current
  if (spec.type === 'Pods')
    return `${current?.averageValue ?? unknown}/${target.averageValue ?? ''}`
  if (spec.type === 'Resource' || spec.type === 'ContainerResource') {
    if (target.averageValue !== undefined) {
      return `${current?.averageValue ?? unknown}/${target.averageValue}`
    }
    const percent = (value: number | undefined, nothing: string) =>
      value === undefined ? nothing : `${value}%`
    const used = percent(current?.averageUtilization, unknown)
    return `${used}/${percent(target.averageUtilization, '<auto>')}`
  }
  return target.averageValue === undefined
    ? `${current?.value ?? unknown}/${target.value ?? ''}`
    : `${current?.averageValue ?? unknown}/${target.averageValue} (avg)`
}

const metricsShownMax = 2

function shownMetrics(specs: Loose[], statuses: Loose[]): string {
  if (specs.length === 0) return '<none>'
  const list = specs.map((spec, i) => shownMetric(spec, statuses[i]))
  const shown = list.slice(0, metricsShownMax).join(', ')
  const left = list.length - metricsShownMax
  return left > 0 ? `${shown} + ${left} more...` : shown
}

export const horizontalPodAutoscalerColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Reference', 'What is scaled.'),
    column('Targets', 'Current and wanted values of its metrics.'),
    column('MinPods', 'The fewest replicas.'),
    column('MaxPods', 'The most replicas.'),
    column('Replicas', 'Replicas there are now.'),
    ageColumn,
  ],
  cells: (object, now) => {
    const { scaleTargetRef = {}, metrics, minReplicas, maxReplicas } = object.spec ?? {}
    return [
      object.metadata.name,
      `${scaleTargetRef.kind ?? ''}/${scaleTargetRef.name ?? ''}`,
      shownMetrics(metrics ?? [], object.status?.currentMetrics ?? []),
      minReplicas === undefined ? '<unset>' : String(minReplicas),
      maxReplicas ?? 0,
      object.status?.currentReplicas ?? 0,
      ageOf(object, now),
    ]
  },
}
