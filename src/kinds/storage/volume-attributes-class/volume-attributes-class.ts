/** The rules of VolumeAttributesClass. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { volumeAttributesClassBehaviour } from './behaviour.ts'
import { volumeAttributesClassColumns } from './columns.ts'

export const volumeAttributesClass: KindRules = {
  behaviour: volumeAttributesClassBehaviour,
  columns: volumeAttributesClassColumns,
}
