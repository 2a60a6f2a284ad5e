/** Columns of ConfigMap, Secret and ServiceAccount. */
import type { TableColumns } from '#kinds/table-columns.ts'
import { ageOf } from './age.ts'
import { ageColumn, column, nameColumn } from './column.ts'

const countOf = (map: object | null | undefined): number => Object.keys(map ?? {}).length

export const configMapColumns: TableColumns = {
  columns: [nameColumn, column('Data', 'Number of keys, text and binary.'), ageColumn],
  cells: (object, now) => [
    object.metadata.name,
    countOf(object.data) + countOf(object.binaryData),
    ageOf(object, now),
  ],
}

/** Without what is binary. */
export const configMapColumnsBefore16: TableColumns = {
  ...configMapColumns,
  cells: (object, now) => [object.metadata.name, countOf(object.data), ageOf(object, now)],
}

export const secretColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Type', 'What the secret is for.'),
    column('Data', 'Number of keys.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    object.type ?? '',
    countOf(object.data),
    ageOf(object, now),
  ],
}

export const serviceAccountColumns: TableColumns = {
  columns: [nameColumn, column('Secrets', 'Number of secrets it may use.'), ageColumn],
  cells: (object, now) => [object.metadata.name, (object.secrets ?? []).length, ageOf(object, now)],
}
