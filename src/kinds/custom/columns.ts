/** The table columns of a custom kind, from additionalPrinterColumns. */
import { goFloat } from '#api/go-syntax.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { canonicalTimestamp } from '#api/timestamp.ts'
import { exactInteger } from '#codec/exact-integer.ts'
import { encodeGoMap } from '#codec/go-json/encode.ts'
import { humanDuration } from '#kinds/all-kinds/age.ts'
import { nameColumn } from '#kinds/all-kinds/column.ts'
import type { ColumnDefinition, TableColumns } from '#kinds/table-columns.ts'
import { type FoundValues, findByPath, isGoInteger, OtherNumber } from './json-path-find.ts'
import type { JsonPathNode } from './json-path-node.ts'
import { parseJsonPath } from './json-path.ts'

const ageColumn: Loose = {
  name: 'Age',
  type: 'date',
  description: 'Time since the object was created.',
  jsonPath: '.metadata.creationTimestamp',
}

/** A column with an invalid path ends the list. The columns before it are shown. */
export function customColumns(given: readonly Loose[] | null | undefined): TableColumns {
  const columns: ColumnDefinition[] = [nameColumn]
  const paths: (readonly JsonPathNode[])[] = []
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
  path: readonly JsonPathNode[],
  object: KubeObject,
  now: number,
): unknown {
  const [value] = findByPath(path, object as unknown as Json)
  if (value === undefined) return null
  switch (type) {
    case 'string':
      return textOf(value)
    case 'integer':
      return integerOf(value)
    case 'number':
      return numberOf(value)
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? ageText(value, now) : null
  }
}

/** The value of a number that does not fit in 64 bits, as Go converts it. */
const overflown = -(2n ** 63n)

function integerOf(value: FoundValues): number | bigint | null {
  if (typeof value === 'bigint') return value
  const number = numberOf(value)
  if (number === null) return null
  return Math.abs(number) < 2 ** 63 ? exactInteger(BigInt(Math.trunc(number))) : overflown
}

/** Only JSON numbers and floats are numbers here; integer literals of a path are not. */
function numberOf(value: FoundValues): number | null {
  if (value instanceof OtherNumber) return value.kind === 'float' ? Number(value.value) : null
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null
}

function textOf(value: FoundValues): string {
  if (typeof value === 'string') return value
  if (value === null) return '<no value>'
  if (value instanceof OtherNumber) {
    return value.kind === 'float' ? goFloat(Number(value.value)) : String(value.value)
  }
  if (typeof value === 'number') return isGoInteger(value) ? String(BigInt(value)) : goFloat(value)
  return typeof value === 'object' ? encodeGoMap(value) : String(value)
}

function ageText(text: string, now: number): string {
  if (text === '' || text === 'null') return '<unknown>'
  const time = canonicalTimestamp(text)
  if (time === undefined) return '<invalid>'
  return time === null ? '<unknown>' : humanDuration(now - Date.parse(time))
}
