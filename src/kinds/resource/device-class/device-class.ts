/** The rules of DeviceClass. */
import { nameAndAge } from '#kinds/all-kinds/name-and-age.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { deviceClassBehaviour } from './behaviour.ts'

export const deviceClass: KindRules = {
  behaviour: deviceClassBehaviour,
  columns: nameAndAge,
}
