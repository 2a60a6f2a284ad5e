/** The rules of PodTemplate. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { podTemplateDefaults } from '#kinds/pod-template/defaults.ts'
import { podTemplateBehaviour } from './behaviour.ts'
import { podTemplateColumns } from './columns.ts'

export const podTemplate: KindRules = {
  behaviour: podTemplateBehaviour,
  finalizerNames: 'by-behaviour',
  columns: podTemplateColumns,
  defaults: podTemplateDefaults,
}
