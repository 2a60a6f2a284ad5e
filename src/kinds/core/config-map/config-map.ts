/** The rules of ConfigMap. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { configMapBehaviour } from './behaviour.ts'
import { configMapColumns, configMapColumnsBefore16 } from './columns.ts'

export const configMap: KindRules = {
  behaviour: configMapBehaviour,
  columns: configMapColumns,
  olderColumns: [
    {
      before: change('tables of config maps count binary data', { since: 16 }),
      instead: configMapColumnsBefore16,
    },
  ],
}
