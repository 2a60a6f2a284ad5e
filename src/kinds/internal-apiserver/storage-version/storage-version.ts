/** The rules of StorageVersion. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { storageVersionBehaviour } from './behaviour.ts'
import { storageVersionColumns } from './columns.ts'

export const storageVersion: KindRules = {
  behaviour: storageVersionBehaviour,
  columns: storageVersionColumns,
}
