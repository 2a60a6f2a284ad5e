/** The rules of ResourceQuota. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { resourceQuotaBehaviour } from './behaviour.ts'
import { olderQuotaColumns, resourceQuotaColumns } from './columns.ts'
import { resourceQuotaDefaults } from './defaults.ts'

export const resourceQuota: KindRules = {
  behaviour: resourceQuotaBehaviour,
  columns: resourceQuotaColumns,
  olderColumns: olderQuotaColumns,
  defaults: resourceQuotaDefaults,
}
