/** The rules of Namespace. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { namespaceBehaviour } from './behaviour.ts'
import { namespaceColumns } from './columns.ts'
import { namespaceDefaults } from './defaults.ts'

export const namespace: KindRules = {
  behaviour: namespaceBehaviour,
  columns: namespaceColumns,
  defaults: namespaceDefaults,
}
