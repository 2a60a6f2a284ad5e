/** The rules of ServiceAccount. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { serviceAccountBehaviour } from './behaviour.ts'
import { olderServiceAccountColumns, serviceAccountColumns } from './columns.ts'

export const serviceAccount: KindRules = {
  behaviour: serviceAccountBehaviour,
  columns: serviceAccountColumns,
  olderColumns: olderServiceAccountColumns,
}
