/** The rules of DaemonSet. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { podTemplateDefaults } from '#kinds/pod-template/defaults.ts'
import { daemonSetBehaviour } from './behaviour.ts'
import { daemonSetColumns } from './columns.ts'
import { daemonSetConversions } from './conversions.ts'
import { daemonSetDefaults } from './defaults.ts'

export const daemonSet: KindRules = {
  behaviour: daemonSetBehaviour,
  finalizerNames: 'by-behaviour',
  columns: daemonSetColumns,
  defaults: { ...podTemplateDefaults, ...daemonSetDefaults },
  conversions: daemonSetConversions,
}
