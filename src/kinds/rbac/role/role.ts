/** The rules of Role. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { roleBehaviour } from './behaviour.ts'

export const role: KindRules = {
  behaviour: roleBehaviour,
}
