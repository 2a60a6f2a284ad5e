/** The rules of VolumeAttachment. */
import { persistentVolumeDefaults } from '#kinds/core/persistent-volume/defaults.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { volumeAttachmentBehaviour } from './behaviour.ts'
import { volumeAttachmentColumns } from './columns.ts'

export const volumeAttachment: KindRules = {
  behaviour: volumeAttachmentBehaviour,
  columns: volumeAttachmentColumns,
  // `spec.source.inlineVolumeSpec` is a PersistentVolumeSpec.
  defaults: persistentVolumeDefaults,
}
