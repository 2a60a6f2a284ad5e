/** Columns of CertificateSigningRequest. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { TableColumns } from '#kinds/table-columns.ts'
import { ageOf, humanDuration } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'

function stateOf(request: KubeObject): string {
  const conditions: Loose[] = request.status?.conditions ?? []
  const has = (type: string) => conditions.some((condition) => condition.type === type)
  const words = [has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending']
  if (has('Failed')) words.push('Failed')
  if (request.status?.certificate) words.push('Issued')
  return words.join(',')
}

export const certificateSigningRequestColumns: TableColumns = {
  columns: [
    nameColumn,
    ageColumn,
    column('SignerName', 'Who is asked to sign.'),
    column('Requestor', 'Who asks.'),
    column('RequestedDuration', 'How long the certificate should be valid.'),
    column('Condition', 'What was decided and done.'),
  ],
  cells: (object, now) => {
    const { signerName, username, expirationSeconds } = object.spec ?? {}
    return [
      object.metadata.name,
      ageOf(object, now),
      signerName || '<none>',
      username ?? '',
      expirationSeconds === undefined ? '<none>' : humanDuration(expirationSeconds * 1000),
      stateOf(object),
    ]
  },
}
