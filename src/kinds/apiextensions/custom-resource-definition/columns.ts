/** Table columns of CustomResourceDefinition. */
import type { Loose } from '#api/object-meta.ts'
import { change } from '#api/releases/change.ts'
import { column, nameColumn, wideColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const definitionsHaveColumns = change('tables of definitions show scope and versions', {
  since: 37,
})

const versionsOf = (versions: readonly Loose[]): string =>
  versions
    .filter(({ served }) => served)
    .map(({ name, storage }) => (storage ? `${name}(storage)` : name))
    .sort()
    .join(',')

const isEstablished = (conditions: readonly Loose[]): boolean =>
  conditions.some(({ type, status }) => type === 'Established' && status === 'True')

export const customResourceDefinitionColumns: TableColumns = {
  columns: [
    nameColumn,
    column('Scope', 'Cluster or Namespaced.'),
    column('Versions', 'The versions that are served.'),
    column('Created At', 'When the server created the definition.', 'date'),
    wideColumn('Group', 'The group of the API.'),
    wideColumn('Kind', 'The kind that is defined.'),
    wideColumn('ShortNames', 'Other names of the resource.'),
    wideColumn('Established', 'Whether the resource is served.', 'boolean'),
  ],
  cells: ({ metadata, spec, status }) => [
    metadata.name,
    spec.scope,
    versionsOf(spec.versions ?? []),
    metadata.creationTimestamp ?? '0001-01-01T00:00:00Z',
    spec.group,
    spec.names.kind,
    (spec.names.shortNames ?? []).join(','),
    isEstablished(status?.conditions ?? []),
  ],
}
