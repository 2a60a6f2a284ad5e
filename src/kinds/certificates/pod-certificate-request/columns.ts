/** Table columns of PodCertificateRequest. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { sortedKeys } from '#kinds/all-kinds/checks.ts'
import { column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

const ends = ['Issued', 'Denied', 'Failed']

const stateOf = (object: KubeObject): string =>
  (object.status?.conditions ?? [])
    .map((condition: Loose) => condition.type)
    .findLast((type: string) => ends.includes(type)) ?? 'Pending'

function annotationsOf({ spec }: KubeObject): string {
  const map: Record<string, string> = spec?.unverifiedUserAnnotations ?? {}
  const pairs = sortedKeys(map).map((key) => `${key}=${map[key]}`)
  return pairs.length === 0 ? '<none>' : pairs.join(',')
}

export const podCertificateRequestColumns: TableColumns = {
  columns: [
    nameColumn,
    column('PodName', 'The pod that the certificate is for.'),
    column('ServiceAccountName', 'The service account of the pod.'),
    column('NodeName', 'The node that the pod runs on.'),
    column('SignerName', 'The signer that is requested.'),
    column('State', 'Whether the request is pending, issued, denied or failed.'),
    column('UnverifiedUserAnnotations', 'What the pod passes to the signer.'),
  ],
  cells: (object) => [
    object.metadata.name,
    object.spec?.podName ?? '',
    object.spec?.serviceAccountName ?? '',
    object.spec?.nodeName ?? '',
    object.spec?.signerName ?? '',
    stateOf(object),
    annotationsOf(object),
  ],
}
