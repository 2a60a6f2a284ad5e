/** The rules of ReplicaSet. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { podTemplateDefaults } from '#kinds/pod-template/defaults.ts'
import { replicaSetBehaviour } from './behaviour.ts'
import { replicaSetColumns } from './columns.ts'
import { replicaSetDefaults } from './defaults.ts'

export const replicaSet: KindRules = {
  behaviour: replicaSetBehaviour,
  finalizerNames: 'by-behaviour',
  columns: replicaSetColumns,
  defaults: { ...podTemplateDefaults, ...replicaSetDefaults },
}
