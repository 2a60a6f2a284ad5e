/** The rules of FlowSchema. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { flowSchemaBehaviour } from './behaviour.ts'
import { flowSchemaColumns } from './columns.ts'
import { flowSchemaDefaults } from './defaults.ts'

export const flowSchema: KindRules = {
  behaviour: flowSchemaBehaviour,
  columns: flowSchemaColumns,
  defaults: flowSchemaDefaults,
}
