/** The rules of ComponentStatus. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { componentStatusColumns } from './columns.ts'

export const componentStatus: KindRules = {
  behaviour: {},
  columns: componentStatusColumns,
}
