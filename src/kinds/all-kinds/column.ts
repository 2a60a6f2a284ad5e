/** How the columns of a table are written down here: one short call each. */
import type { ColumnDefinition } from '#kinds/table-columns.ts'

type ColumnType = ColumnDefinition['type']

/** A column that is always shown. */
export const column = (
  name: string,
  description: string,
  type: ColumnType = 'string',
): ColumnDefinition => ({ name, type, format: '', description, priority: 0 })

/** A column shown with -o wide. */
export const wideColumn = (
  name: string,
  description: string,
  type: ColumnType = 'string',
): ColumnDefinition => ({ name, type, format: '', description, priority: 1 })

export const nameColumn: ColumnDefinition = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique within its namespace.',
  priority: 0,
}

export const ageColumn: ColumnDefinition = column('Age', 'Time since the object was created.')

/** The first few of a list, and how many were left out. */
export function withMore(list: readonly string[], shownMax: number, nothing: string): string {
  const shown = list.slice(0, shownMax).join(',')
  if (list.length > shownMax) return `${shown} + ${list.length - shownMax} more...`
  return shown === '' ? nothing : shown
}
