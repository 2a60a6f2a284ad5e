/** The table columns that ReplicaSet and ReplicationController share. */
import type { KubeObject } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import { containerCells } from '#kinds/pod-template/container-cells.ts'
import type { ColumnDefinition } from '#kinds/table-columns.ts'
import { templateColumns } from './template-columns.ts'

export const replicaColumns: ColumnDefinition[] = [
  nameColumn,
  column('Desired', 'Pods wanted.', 'integer'),
  column('Current', 'Pods there are.', 'integer'),
  column('Ready', 'Pods that are ready.', 'integer'),
  ageColumn,
  ...templateColumns,
]

export const replicaCells = (object: KubeObject, now: number): unknown[] => [
  object.metadata.name,
  object.spec?.replicas ?? 0,
  object.status?.replicas ?? 0,
  object.status?.readyReplicas ?? 0,
  ageOf(object, now),
  ...containerCells(object.spec?.template),
]
