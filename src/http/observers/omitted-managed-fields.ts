/**
 * Removes the managed fields of recorded objects. An object may be the recorded one, an item of a
 * list, or in a row of a table.
 */
import type { Loose } from '#api/object-meta.ts'
import { parseJson, storedDepthMax } from '#codec/json.ts'

const managedFields = '"managedFields"'

export function withoutManagedFields(text: string): string {
  if (!text.includes(managedFields)) return text
  const value = parseJson(text, storedDepthMax) as Loose
  remove(value)
  for (const item of listOf(value.items)) remove(item)
  if (value.kind === 'Table') for (const row of listOf(value.rows)) remove(row.object)
  return JSON.stringify(value)
}

const listOf = (value: unknown): Loose[] => (Array.isArray(value) ? value : [])

function remove(object: Loose | undefined): void {
  const metadata: unknown = object?.metadata
  if (typeof metadata === 'object' && metadata !== null) delete (metadata as Loose).managedFields
}
