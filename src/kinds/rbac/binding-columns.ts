/** Columns of RoleBinding and ClusterRoleBinding. */
import type { Loose } from '#api/object-meta.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn, wideColumn } from '#kinds/all-kinds/column.ts'

export const bindingColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Role', 'The role that is granted.'),
    ageColumn,
    wideColumn('Users', 'Users it is granted to.'),
    wideColumn('Groups', 'Groups it is granted to.'),
    wideColumn('ServiceAccounts', 'Service accounts it is granted to.'),
  ],
  cells: (object, now) => {
    const subjects: Loose[] = object.subjects ?? []
    const names = (kind: string, show: (subject: Loose) => string) =>
      subjects
        .filter((subject) => subject.kind === kind)
        .map(show)
        .join(', ')
    const plain = (subject: Loose) => subject.name ?? ''
    return [
      object.metadata.name,
      `${object.roleRef?.kind ?? ''}/${object.roleRef?.name ?? ''}`,
      ageOf(object, now),
      names('User', plain),
      names('Group', plain),
      names('ServiceAccount', (subject) => `${subject.namespace ?? ''}/${subject.name ?? ''}`),
    ]
  },
}
