/** The rules of IPAddress. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { ipAddressBehaviour } from './behaviour.ts'
import { ipAddressColumns } from './columns.ts'

export const ipAddress: KindRules = { behaviour: ipAddressBehaviour, columns: ipAddressColumns }
