/** The rules of Secret. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { secretBehaviour } from './behaviour.ts'
import { secretColumns } from './columns.ts'
import { secretDefaults } from './defaults.ts'

export const secret: KindRules = {
  behaviour: secretBehaviour,
  columns: secretColumns,
  defaults: secretDefaults,
}
