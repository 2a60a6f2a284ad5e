/** Table columns of StorageVersionMigration. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { column } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

const states = ['Running', 'Failed', 'Succeeded']

function resourceOf({ spec }: KubeObject): string {
  const { group = '', resource = '' }: Loose = spec?.resource ?? {}
  return group === '' ? resource : `${resource}.${group}`
}

/** The last state that is true. */
const stateOf = ({ status }: KubeObject): string =>
  (status?.conditions ?? [])
    .filter((one: Loose) => one.status === 'True')
    .map((one: Loose) => one.type)
    .findLast((type: string) => states.includes(type)) ?? 'Unknown'

export const storageVersionMigrationColumns: TableColumns = {
  columns: [
    column('Name', 'Name of the object.'),
    column('Resource', 'The resource whose objects are rewritten.'),
    column('Status', 'How far the migration is.'),
  ],
  cells: (object) => [object.metadata.name, resourceOf(object), stateOf(object)],
}
