/** The rules of ClusterTrustBundle. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { clusterTrustBundleBehaviour } from './behaviour.ts'
import { clusterTrustBundleColumns } from './columns.ts'

export const clusterTrustBundle: KindRules = {
  behaviour: clusterTrustBundleBehaviour,
  columns: clusterTrustBundleColumns,
}
