/** Table columns of IngressClass. */
import type { KubeObject } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

function parametersOf(ingressClass: KubeObject): string {
  const parameters = ingressClass.spec?.parameters
  if (!parameters) return '<none>'
  const { kind = '', apiGroup, name = '' } = parameters
  return `${kind}${typeof apiGroup === 'string' ? `.${apiGroup}` : ''}/${name}`
}

export const ingressClassColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Controller', 'The controller that serves the class.'),
    column('Parameters', 'Where its settings are.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.controller ?? '',
    parametersOf(object),
    ageOf(object, now),
  ],
}
