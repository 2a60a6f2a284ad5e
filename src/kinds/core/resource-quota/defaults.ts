/** Defaults of ResourceQuota. */
import type { Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { amounts } from '#kinds/all-kinds/round-amounts.ts'

export const resourceQuotaDefaults: Defaulters = {
  'io.k8s.api.core.v1.ResourceQuotaSpec': amounts('hard'),
  'io.k8s.api.core.v1.ResourceQuotaStatus': amounts('hard', 'used'),
}
