/**
 * Makes tables for kubectl from objects. A table of one object or bookmark is a value; a table of a
 * list is text, because most of its many rows are cached. Loaded with the first table request.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { decodeJson, encodeJson } from '#codec/json.ts'
import { encodeYaml } from '#codec/yaml.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import {
  type Columns,
  defaultColumns,
  parseIncludeObject,
  type TableItem,
  tableOf,
} from '#codec/table.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ObjectView } from '#verbs/answer.ts'
import { convertOne } from '#verbs/current.ts'
import { bookmarkObject } from '#http/watch/bookmark.ts'
import type { Exchange } from '#http/exchange.ts'
import { withoutConversionAnnotations, withTimes } from './metadata-alone.ts'
import { convertTogether, objectFor, type ShapeParts } from './represent.ts'
import { RequestTurns } from './request-turns.ts'
import type { Shape } from './shape.ts'
import { joinRows, type Row, rowOf, TableRows } from './table-rows.ts'
import { yamlList } from './yaml-list.ts'

/** The request, its representation and its user. */
export interface Asked {
  readonly kind: Kind
  readonly shape: Shape
  readonly parts: ShapeParts
  readonly exchange: Exchange
}

const columnsOf = (kind: Kind): Columns =>
  kind.columns ?? kind.resource.behaviour.columns ?? defaultColumns

const optionsOf = ({ shape, parts, exchange }: Asked, headers: boolean) => ({
  version: shape.as?.version ?? 'v1',
  include: parseIncludeObject(exchange.query.get('includeObject')),
  headers,
  now: parts.server.clock.now(),
})

/** Checks the options of a table before anything is sent. Throws 400 if they are invalid. */
export const requireTableOptions = ({ exchange }: Asked): void => {
  parseIncludeObject(exchange.query.get('includeObject'))
}

/** `headers`: whether the columns are sent. Later events of a watch do not need them. */
export async function table(
  requested: Asked,
  views: readonly ObjectView[],
  metadata: Loose,
  headers = true,
): Promise<Loose> {
  const options = optionsOf(requested, headers)
  const items = await Promise.all(views.map((view) => tableItem(requested, view)))
  return tableOf(items, columnsOf(requested.kind), metadata, options)
}

const tableRows = new TableRows()

/** A Scale as a table. The Scale of a custom kind has the columns of custom kinds. */
export function scaleTable(requested: Asked, scale: KubeObject): Buffer {
  const { shape } = requested
  const shown = { shown: scale, cellsOf: scale }
  const { resourceVersion } = scale.metadata
  const value = tableOf(
    [shown],
    scaleColumnsOf(requested.kind),
    { resourceVersion },
    optionsOf(requested, true),
  )
  return shape.format === 'yaml' ? encodeYaml(value) : encodeJson(value, shape.pretty)
}

function scaleColumnsOf({ decoding }: Kind): Columns {
  const isFree = decoding === 'free'
  const columns = [
    isFree ? nameColumn : column('Name', 'Name of the object.'),
    column('Desired', 'How many replicas are wanted.', 'integer'),
    column('Available', 'How many replicas there are.', 'integer'),
    isFree ? column('Age', 'Time since the object was created.', 'date') : ageColumn,
  ]
  return {
    columns,
    cells: (scale, now) => [
      scale.metadata.name,
      scale.spec?.replicas ?? 0,
      scale.status?.replicas ?? 0,
      ageOf(scale, now),
    ],
  }
}

async function columnsOfList(requested: Asked, entries: readonly ObjectView[]): Promise<Columns> {
  const columns = columnsOf(requested.kind)
  if (columns.ofList === undefined) return columns
  const items = await Promise.all(entries.map((entry) => tableItem(requested, entry)))
  return columns.ofList(items.map(({ cellsOf }) => cellsOf))
}

/** Encodes the rows of a list directly as text, and the table around them. */
async function rowsOf(requested: Asked, entries: readonly ObjectView[], metadata: Loose) {
  const { kind, parts, exchange } = requested
  const options = optionsOf(requested, true)
  const { include, version, now } = options
  await convertTogether(kind, entries, parts.server.parseStored)
  const columns = await columnsOfList(requested, entries)
  const frame = tableOf([], columns, metadata, options)
  const shown = { include, version, name: `${include} ${version}` }
  const rows: Row[] = []
  const turns = new RequestTurns(exchange)
  for (const entry of entries) {
    const kept =
      tableRows.known(kind, entry) ?? tableRows.keep(kind, entry, await tableItem(requested, entry))
    rows.push(rowOf(kept, columns, now, shown))
    if (turns.over) await turns.next()
  }
  const { order } = columns
  if (order !== undefined)
    rows.sort((a, b) => order(a.cellsOf as KubeObject, b.cellsOf as KubeObject))
  return { frame, rows }
}

/** The table of a list as JSON: rows are joined as text. */
export async function tableText(
  requested: Asked,
  entries: readonly ObjectView[],
  metadata: Loose,
): Promise<Buffer> {
  const { frame, rows } = await rowsOf(requested, entries, metadata)
  if (rows.length === 0) return encodeJson(frame)
  const end = ']}'
  const text = JSON.stringify({ ...frame, rows: [] })
  return joinRows(text.slice(0, -end.length), rows, `${end}\n`)
}

/** The same table as YAML. */
export async function tableYaml(
  requested: Asked,
  entries: readonly ObjectView[],
  metadata: Loose,
): Promise<Buffer> {
  const { frame, rows } = await rowsOf(requested, entries, metadata)
  return yamlList(requested.exchange, frame, 'rows', rows, ({ start, object }) =>
    decodeJson(Buffer.from(`${start}${object}}`)),
  )
}

/** Cells are made from the hub version, the object is shown in the requested version. */
async function tableItem({ kind, parts }: Asked, view: ObjectView): Promise<TableItem> {
  const { hub } = kind.resource
  const shown = await objectFor(kind, view, parts.server.parseStored)
  const cellsOf =
    kind === hub || kind.columns !== undefined
      ? shown
      : await convertOne(structuredClone(shown), kind, hub)
  return { shown, cellsOf, metadataOnly: withoutConversionAnnotations(kind, shown) }
}

/** A bookmark as a table with one empty row. */
export function bookmarkTable(requested: Asked, bookmark: KubeObject, headers: boolean): Loose {
  const { kind } = requested
  const { resourceVersion } = bookmark.metadata
  const empty =
    kind.columns === undefined
      ? bookmarkObject(kind.resource.hub, Number(resourceVersion))
      : bookmark
  const cellsOf = { ...empty, metadata: { ...empty.metadata, name: '' } }
  const alone = withTimes(bookmark, requested.parts.server.release) as KubeObject
  const row = { shown: bookmark, cellsOf, alone }
  return tableOf([row], columnsOf(kind), { resourceVersion }, optionsOf(requested, headers))
}
