/** Table columns of IPAddress. */
import type { KubeObject } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

function parentOf(object: KubeObject): string {
  const parent = object.spec?.parentRef
  if (!parent) return '<none>'
  const { group = '', resource = '', namespace = '', name = '' } = parent
  const kind = `${resource}${group === '' ? '' : `.${group}`}`.toLowerCase()
  return [kind, ...(namespace === '' ? [] : [namespace]), name].join('/')
}

/** kube-apiserver sends an age without declaring a column for it. */
export const ipAddressColumns: TableColumns = {
  columns: [nameColumn, column('ParentRef', 'The object that holds the address.')],
  cells: (object, now) => [object.metadata.name, parentOf(object), ageOf(object, now)],
}
