/** The rules of DeviceClass. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { deviceClassBehaviour } from './behaviour.ts'

export const deviceClass: KindRules = { behaviour: deviceClassBehaviour }
