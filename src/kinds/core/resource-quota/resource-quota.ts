/** The rules of ResourceQuota. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { resourceQuotaBehaviour } from './behaviour.ts'
import { resourceQuotaColumns } from './columns.ts'
import { resourceQuotaDefaults } from './defaults.ts'

export const resourceQuota: KindRules = {
  behaviour: resourceQuotaBehaviour,
  columns: resourceQuotaColumns,
  olderColumns: [{ before: 18, without: 'everything' }],
  defaults: resourceQuotaDefaults,
}
