/** The rules of ReplicationController. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { podTemplateDefaults } from '#kinds/pod-template/defaults.ts'
import { replicationControllerBehaviour } from './behaviour.ts'
import { replicationControllerColumns } from './columns.ts'
import { replicationControllerDefaults } from './defaults.ts'

export const replicationController: KindRules = {
  behaviour: replicationControllerBehaviour,
  finalizerNames: 'by-behaviour',
  columns: replicationControllerColumns,
  defaults: { ...podTemplateDefaults, ...replicationControllerDefaults },
}
