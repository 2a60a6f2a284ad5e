/**
 * The table columns of a kind in the emulated release, derived from the newest columns and the
 * differences of older releases.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { KindRules } from './kind-rules.ts'
import type { TableColumns } from './table-columns.ts'

export function columnsOfRelease(
  { columns, olderColumns }: Pick<KindRules, 'columns' | 'olderColumns'>,
  release: number,
): TableColumns | undefined {
  const older = olderColumns?.find(({ before }) => !releaseOf(release).has(before))
  if (columns === undefined || older === undefined) return columns
  const { without = [], instead } = older
  if (instead !== undefined) return instead
  return without === 'everything' ? undefined : leaveOut(columns, without)
}

export function leaveOut(table: TableColumns, names: readonly string[]): TableColumns {
  const isKept = table.columns.map(({ name }) => !names.includes(name))
  return {
    ...table,
    columns: table.columns.filter((_, i) => isKept[i]),
    cells: (object: KubeObject, now: number) =>
      table.cells(object, now).filter((_, i) => isKept[i]),
  }
}
