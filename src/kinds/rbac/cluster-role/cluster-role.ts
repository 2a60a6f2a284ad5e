/** The rules of ClusterRole. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { clusterRoleBehaviour } from './behaviour.ts'

export const clusterRole: KindRules = {
  behaviour: clusterRoleBehaviour,
}
