/** Table columns of ControllerRevision. */
import { groupOf } from '#api/api-version.ts'
import type { KubeObject, OwnerReference } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

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
