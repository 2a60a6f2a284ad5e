/** The rules of DeviceTaintRule. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { deviceDefaults } from '#kinds/resource/device-defaults.ts'
import { deviceTaintRuleBehaviour } from './behaviour.ts'
import { deviceTaintRuleColumns } from './columns.ts'

export const deviceTaintRule: KindRules = {
  behaviour: deviceTaintRuleBehaviour,
  columns: deviceTaintRuleColumns,
  defaults: deviceDefaults,
}
