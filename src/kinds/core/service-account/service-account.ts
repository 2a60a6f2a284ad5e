/** The rules of ServiceAccount. */
import { nameAndAge } from '#kinds/all-kinds/name-and-age.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { serviceAccountBehaviour } from './behaviour.ts'
import { olderServiceAccountColumns } from './columns.ts'

export const serviceAccount: KindRules = {
  behaviour: serviceAccountBehaviour,
  columns: nameAndAge,
  olderColumns: olderServiceAccountColumns,
}
