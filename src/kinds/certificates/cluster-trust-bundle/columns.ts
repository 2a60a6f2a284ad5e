/** Table columns of ClusterTrustBundle. */
import { column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

export const clusterTrustBundleColumns: TableColumns = {
  columns: [nameColumn, column('SignerName', 'The signer whose trust anchors these are.')],
  cells: (object) => [object.metadata.name, object.spec?.signerName || '<none>'],
}
