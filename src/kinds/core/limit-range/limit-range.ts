/** The rules of LimitRange. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { limitRangeBehaviour } from './behaviour.ts'
import { limitRangeDefaults } from './defaults.ts'

export const limitRange: KindRules = {
  behaviour: limitRangeBehaviour,
  defaults: limitRangeDefaults,
}
