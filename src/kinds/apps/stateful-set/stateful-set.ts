/** The rules of StatefulSet. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { podTemplateDefaults } from '#kinds/pod-template/defaults.ts'
import { statefulSetBehaviour } from './behaviour.ts'
import { statefulSetColumns } from './columns.ts'
import { statefulSetConversions } from './conversions.ts'
import { statefulSetDefaults } from './defaults.ts'

export const statefulSet: KindRules = {
  behaviour: statefulSetBehaviour,
  finalizerNames: 'by-behaviour',
  columns: statefulSetColumns,
  defaults: { ...podTemplateDefaults, ...statefulSetDefaults },
  conversions: statefulSetConversions,
}
