/** The rules of ResourceQuota. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { resourceQuotaBehaviour } from './behaviour.ts'
import { resourceQuotaColumns } from './columns.ts'
import { resourceQuotaDefaults } from './defaults.ts'

export const resourceQuota: KindRules = {
  behaviour: resourceQuotaBehaviour,
  columns: resourceQuotaColumns,
  olderColumns: [
    {
      before: change('tables of resource quotas show requests and limits', { since: 18 }),
      without: 'everything',
    },
  ],
  defaults: resourceQuotaDefaults,
}
