/** The behaviours of pods and pod templates, by group and plural. */
import type { Behaviour } from '#kinds/kind.ts'
import { pod } from './pod.ts'
import { podPreset } from './pod-preset.ts'
import { podTemplate } from './pod-template.ts'

export const podBehaviours: Readonly<Record<string, Behaviour>> = {
  '/pods': pod,
  '/podtemplates': podTemplate,
  'settings.k8s.io/podpresets': podPreset,
}
