/** The columns a definition names, as tables show them. */
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { canonicalTimestamp } from '#api/timestamp.ts'
import { humanDuration } from '#kinds/columns/age.ts'
import { nameColumn } from '#kinds/columns/column.ts'
import type { ColumnDefinition, TableColumns } from '#kinds/table-columns.ts'
import { type JsonPath, parseJsonPath } from './json-path.ts'

const ageColumn: Loose = {
  name: 'Age',
  type: 'date',
  description: 'Time since the object was created.',
  jsonPath: '.metadata.creationTimestamp',
}

/** A column whose path cannot be read ends the list: what stands before it is shown. */
export function customColumns(given: readonly Loose[] | null | undefined): TableColumns {
  const columns: ColumnDefinition[] = [nameColumn]
  const paths: JsonPath[] = []
  for (const one of given?.length ? given : [ageColumn]) {
    const path = parseJsonPath(one.jsonPath ?? '')
    if (path === undefined) break
    paths.push(path)
    columns.push({
      name: one.name,
      type: one.type,
      format: one.format ?? '',
      description: one.description || `The value at ${one.jsonPath}.`,
      priority: one.priority ?? 0,
    })
  }
  return {
    columns,
    cells: (object, now) => [
      object.metadata.name,
      ...paths.map((path, i) => cellOf(columns[i + 1].type, path, object, now)),
    ],
  }
}

function cellOf(
  type: ColumnDefinition['type'],
  path: JsonPath,
  object: KubeObject,
  now: number,
): unknown {
  const found = path.find(object as unknown as Json)
  if (found.length === 0) return null
  const [value] = found
  switch (type) {
    case 'string':
      return textOf(value)
    case 'integer':
      return typeof value === 'number'
        ? Math.trunc(value)
        : typeof value === 'bigint'
          ? value
          : null
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? ageText(value, now) : null
  }
}

function textOf(value: Json): string {
  if (typeof value === 'string') return value
  if (value === null) return '<no value>'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function ageText(text: string, now: number): string {
  if (text === '' || text === 'null') return '<unknown>'
  const time = canonicalTimestamp(text)
  return time === undefined || time === null ? '<invalid>' : humanDuration(now - Date.parse(time))
}
