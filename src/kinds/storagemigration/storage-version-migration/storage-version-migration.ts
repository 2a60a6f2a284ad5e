/** The rules of StorageVersionMigration. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { storageVersionMigrationBehaviour } from './behaviour.ts'
import { storageVersionMigrationColumns } from './columns.ts'

export const storageVersionMigration: KindRules = {
  behaviour: storageVersionMigrationBehaviour,
  columns: storageVersionMigrationColumns,
}
