/** Table columns of EndpointSlice. */
import type { Loose } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn, withMore } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const endpointSliceColumns: TableColumns = {
  columns: [
    nameColumn,
    column('AddressType', 'What its addresses are.'),
    column('Ports', 'Ports of every endpoint.'),
    column('Endpoints', 'Addresses.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    object.addressType ?? '',
    withMore(
      (object.ports ?? []).map((port: Loose) => String(port.port ?? port.name ?? '*')),
      3,
      '<unset>',
    ),
    withMore(
      (object.endpoints ?? []).flatMap((endpoint: Loose) => endpoint.addresses ?? []),
      3,
      '<unset>',
    ),
    ageOf(object, now),
  ],
}
