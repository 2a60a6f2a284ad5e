/** The rules of Deployment. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { podTemplateDefaults } from '#kinds/pod-template/defaults.ts'
import { deploymentBehaviour } from './behaviour.ts'
import { deploymentColumns } from './columns.ts'
import { deploymentConversions } from './conversions.ts'
import { deploymentDefaults } from './defaults.ts'

export const deployment: KindRules = {
  behaviour: deploymentBehaviour,
  finalizerNames: 'by-behaviour',
  columns: deploymentColumns,
  defaults: { ...podTemplateDefaults, ...deploymentDefaults },
  conversions: deploymentConversions,
}
