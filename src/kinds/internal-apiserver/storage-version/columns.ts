/** Table columns of StorageVersion. */
import type { Loose } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn, withMore } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const storageVersionColumns: TableColumns = {
  columns: [
    nameColumn,
    column('CommonEncodingVersion', 'The version all servers write, where they agree.'),
    column('StorageVersions', 'The version each server writes.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    object.status?.commonEncodingVersion ?? '<unset>',
    withMore(
      (object.status?.storageVersions ?? []).map(
        (server: Loose) => `${server.apiServerID ?? ''}=${server.encodingVersion ?? ''}`,
      ),
      3,
      '<unset>',
    ),
    ageOf(object, now),
  ],
}
