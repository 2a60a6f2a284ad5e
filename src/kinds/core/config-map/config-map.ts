/** The rules of ConfigMap. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { configMapBehaviour } from './behaviour.ts'
import { configMapColumns, configMapColumnsBefore16 } from './columns.ts'

export const configMap: KindRules = {
  behaviour: configMapBehaviour,
  columns: configMapColumns,
  olderColumns: [{ before: 16, instead: configMapColumnsBefore16 }],
}
