/** The rules of Node. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { nodeBehaviour } from './behaviour.ts'
import { nodeColumns, nodeColumnsBefore36 } from './columns.ts'
import { nodeDefaults } from './defaults.ts'

export const node: KindRules = {
  behaviour: nodeBehaviour,
  columns: nodeColumns,
  olderColumns: [
    {
      before: change('tables of nodes show the architecture', { since: 36 }),
      instead: nodeColumnsBefore36,
    },
  ],
  defaults: nodeDefaults,
}
