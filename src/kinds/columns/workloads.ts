/** Columns of the kinds that run pods: controllers, sets, jobs, and the revisions of sets. */
import { groupOf } from '#api/api-version.ts'
import {
  formatLabelSelector,
  formatLabels,
  formatSelector,
  selectorOf,
} from '#api/label-selector.ts'
import type { KubeObject, Loose, OwnerReference } from '#api/object-meta.ts'
import type { ColumnDefinition, TableColumns } from '#kinds/table-columns.ts'
import { ageOf, humanDuration, timeSince } from './age.ts'
import { ageColumn, column, nameColumn, wideColumn } from './column.ts'
import { containerCells } from './pods.ts'

const containersColumn = wideColumn('Containers', 'Names of the containers.')
const imagesColumn = wideColumn('Images', 'Images of the containers.')
const selectorColumn = wideColumn('Selector', 'Labels of the pods it counts as its own.')
const templateColumns: ColumnDefinition[] = [containersColumn, imagesColumn, selectorColumn]

const replicaColumns: ColumnDefinition[] = [
  nameColumn,
  column('Desired', 'Pods wanted.', 'integer'),
  column('Current', 'Pods there are.', 'integer'),
  column('Ready', 'Pods that are ready.', 'integer'),
  ageColumn,
  ...templateColumns,
]

const replicaCells = (object: KubeObject, now: number): unknown[] => [
  object.metadata.name,
  object.spec?.replicas ?? 0,
  object.status?.replicas ?? 0,
  object.status?.readyReplicas ?? 0,
  ageOf(object, now),
  ...containerCells(object.spec?.template),
]

export const replicationControllerColumns: TableColumns = {
  columns: replicaColumns,
  cells: (object, now) => [...replicaCells(object, now), formatLabels(object.spec?.selector)],
}

export const replicaSetColumns: TableColumns = {
  columns: replicaColumns,
  cells: (object, now) => [
    ...replicaCells(object, now),
    formatLabelSelector(object.spec?.selector),
  ],
}

export const deploymentColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Ready', 'Pods that are ready, of those wanted.'),
    column('Up-to-date', 'Pods made from the newest template.'),
    column('Available', 'Pods ready for long enough.'),
    ageColumn,
    ...templateColumns,
  ],
  cells: (object, now) => [
    object.metadata.name,
    `${object.status?.readyReplicas ?? 0}/${object.spec?.replicas ?? 0}`,
    object.status?.updatedReplicas ?? 0,
    object.status?.availableReplicas ?? 0,
    ageOf(object, now),
    ...containerCells(object.spec?.template),
    formatSelector(selectorOf(object.spec?.selector)),
  ],
}

export const daemonSetColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Desired', 'Nodes that should run a pod.', 'integer'),
    column('Current', 'Nodes that run a pod.', 'integer'),
    column('Ready', 'Nodes whose pod is ready.', 'integer'),
    column('Up-to-date', 'Nodes whose pod is from the newest template.', 'integer'),
    column('Available', 'Nodes whose pod has been ready for long enough.', 'integer'),
    column('Node Selector', 'Labels of the nodes that should run a pod.'),
    ageColumn,
    ...templateColumns,
  ],
  cells: (object, now) => {
    const status: Loose = object.status ?? {}
    return [
      object.metadata.name,
      status.desiredNumberScheduled ?? 0,
      status.currentNumberScheduled ?? 0,
      status.numberReady ?? 0,
      status.updatedNumberScheduled ?? 0,
      status.numberAvailable ?? 0,
      formatLabels(object.spec?.template?.spec?.nodeSelector),
      ageOf(object, now),
      ...containerCells(object.spec?.template),
      formatLabelSelector(object.spec?.selector),
    ]
  },
}

export const statefulSetColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Ready', 'Pods that are ready, of those wanted.'),
    ageColumn,
    containersColumn,
    imagesColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    `${object.status?.readyReplicas ?? 0}/${object.spec?.replicas ?? 0}`,
    ageOf(object, now),
    ...containerCells(object.spec?.template),
  ],
}

function completionsOf(job: KubeObject): string {
  const { completions, parallelism = 0 }: Loose = job.spec ?? {}
  const succeeded = job.status?.succeeded ?? 0
  if (completions !== undefined && completions !== null) return `${succeeded}/${completions}`
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function durationOf(job: KubeObject, now: number): string {
  const { startTime, completionTime }: Loose = job.status ?? {}
  if (!startTime) return ''
  return humanDuration((completionTime ? Date.parse(completionTime) : now) - Date.parse(startTime))
}

export const jobColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Completions', 'Pods that succeeded, of those needed.'),
    column('Duration', 'Time the job has taken.'),
    ageColumn,
    ...templateColumns,
  ],
  cells: (object, now) => [
    object.metadata.name,
    completionsOf(object),
    durationOf(object, now),
    ageOf(object, now),
    ...containerCells(object.spec?.template),
    formatLabelSelector(object.spec?.selector),
  ],
}

function suspended(value: boolean | null | undefined): string {
  if (value === undefined || value === null) return '<unset>'
  return value ? 'True' : 'False'
}

export const cronJobColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Schedule', 'When jobs are started.'),
    column('Suspend', 'Whether no more are started for now.', 'boolean'),
    column('Active', 'Jobs that are running.', 'integer'),
    column('Last Schedule', 'When a job was last started.'),
    ageColumn,
    ...templateColumns,
  ],
  cells: (object, now) => {
    const job: Loose = object.spec?.jobTemplate?.spec ?? {}
    const last = object.status?.lastScheduleTime
    return [
      object.metadata.name,
      object.spec?.schedule ?? '',
      suspended(object.spec?.suspend),
      (object.status?.active ?? []).length,
      last ? timeSince(last, now) : '<none>',
      ageOf(object, now),
      ...containerCells(job.template),
      formatLabelSelector(job.selector),
    ]
  },
}

/** `statefulset.apps/web`, of the owner that controls it. */
function controllerOf(object: KubeObject): string {
  const owners: OwnerReference[] = object.metadata.ownerReferences ?? []
  const owner = owners.find(({ controller }) => controller)
  if (owner === undefined) return '<none>'
  const group = groupOf(owner.apiVersion)
  const kind = group ? `${owner.kind}.${group}` : owner.kind
  return `${kind.toLowerCase()}/${owner.name}`
}

export const controllerRevisionColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Controller', 'What it is a revision of.'),
    column('Revision', 'Number of the revision.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    controllerOf(object),
    object.revision ?? 0,
    ageOf(object, now),
  ],
}
