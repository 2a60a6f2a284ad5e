/** The rules of CSIStorageCapacity. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { csiStorageCapacityBehaviour } from './behaviour.ts'

export const csiStorageCapacity: KindRules = {
  behaviour: csiStorageCapacityBehaviour,
}
