/** The rules of PodPreset. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { podTemplateDefaults } from '#kinds/pod-template/defaults.ts'
import { podPresetBehaviour } from './behaviour.ts'

export const podPreset: KindRules = {
  behaviour: podPresetBehaviour,
  defaults: podTemplateDefaults,
}
