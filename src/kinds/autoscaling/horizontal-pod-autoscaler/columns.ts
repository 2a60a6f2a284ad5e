/** Columns of HorizontalPodAutoscaler, on autoscaling/v2beta2. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'

const unknown = '<unknown>'

/** The field that has the source of each metric type. */
const sources: ReadonlyMap<string, string> = new Map([
  ['Object', 'object'],
  ['Pods', 'pods'],
  ['Resource', 'resource'],
  ['External', 'external'],
  ['ContainerResource', 'containerResource'],
])

type Shown = (spec: Loose, status: Loose | undefined) => string

/** Before 1.19 the column did not show the target average of an object metric. */
const shownWithoutAverage: Shown = (spec, status) =>
  spec.type === 'Object'
    ? `${status?.object ? (status.object.current?.value ?? 0) : unknown}/${spec.object?.target?.value ?? 0}`
    : shownValues(spec, status)

/** Since 1.30 a resource metric shows the name of the resource: `cpu: 10%/50%`. */
function shownMetric(spec: Loose, status: Loose | undefined): string {
  const name = spec.resource?.name ?? spec.containerResource?.name ?? ''
  const shown = shownValues(spec, status)
  return spec.type === 'Resource' || spec.type === 'ContainerResource' ? `${name}: ${shown}` : shown
}

function shownValues(spec: Loose, status: Loose | undefined): string {
  const source = sources.get(spec.type)
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

function shownMetrics({ spec, status }: KubeObject, shownOne: Shown): string {
  const specs: Loose[] = spec?.metrics ?? []
  const statuses: Loose[] = status?.currentMetrics ?? []
  if (specs.length === 0) return '<none>'
  const list = specs.map((one, i) => shownOne(one, statuses[i]))
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
    const { scaleTargetRef = {}, minReplicas, maxReplicas } = object.spec ?? {}
    return [
      object.metadata.name,
      `${scaleTargetRef.kind ?? ''}/${scaleTargetRef.name ?? ''}`,
      shownMetrics(object, shownMetric),
      minReplicas === undefined ? '<unset>' : String(minReplicas),
      maxReplicas ?? 0,
      object.status?.currentReplicas ?? 0,
      ageOf(object, now),
    ]
  },
}

const targetsAt = 2

const withTargets = (shownOne: Shown): TableColumns => ({
  ...horizontalPodAutoscalerColumns,
  cells(object, now) {
    const shown = shownMetrics(object, shownOne)
    return horizontalPodAutoscalerColumns.cells(object, now).with(targetsAt, shown)
  },
})

export const horizontalPodAutoscalerColumnsBefore30 = withTargets(shownValues)
export const horizontalPodAutoscalerColumnsBefore19 = withTargets(shownWithoutAverage)
