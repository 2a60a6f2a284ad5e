/** The rules of Node. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { nodeBehaviour } from './behaviour.ts'
import { nodeColumns } from './columns.ts'
import { nodeDefaults } from './defaults.ts'

export const node: KindRules = {
  behaviour: nodeBehaviour,
  columns: nodeColumns,
  defaults: nodeDefaults,
}
