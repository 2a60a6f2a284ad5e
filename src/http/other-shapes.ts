/** Answers that are not stored bytes as they are: indented JSON, YAML, protobuf, tables, metadata alone. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError, notAcceptable } from '#api/status-error.ts'
import { encodeJson } from '#codec/json.ts'
import { type MetaVersion, partialMetadata, partialMetadataList } from '#codec/partial-metadata.ts'
import { encodeWatchFrame } from '#codec/protobuf.ts'
import {
  type Columns,
  defaultColumns,
  parseIncludeObject,
  type TableItem,
  tableOf,
} from '#codec/table.ts'
import { encodeYaml } from '#codec/yaml.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Type } from '#schema/type.ts'
import type { Answer, ObjectView } from '#verbs/answer.ts'
import { convertOne } from '#verbs/current.ts'
import { bookmarkFrame, bookmarkObject } from './bookmark.ts'
import type { Exchange } from './exchange.ts'
import type { TypedFramer } from './watch-stream.ts'
import type { HttpParts } from './parts.ts'
import {
  aroundProtobufItems,
  protobufBookmark,
  protobufFrame,
  protobufItems,
  protobufObject,
  protobufPartial,
  protobufValue,
} from './protobuf-shapes.ts'
import { convertTogether, objectFor, pathOf } from './represent.ts'
import type { Shape } from './shape.ts'
import { TableRows } from './table-rows.ts'

type Value = Loose & { kind: string; apiVersion: string }
type ListAnswer = Answer & { is: 'list' }

export async function encodeObject(
  { kind, view }: Answer & { is: 'object' },
  shape: Shape,
  parts: HttpParts,
  exchange: Exchange,
): Promise<Buffer> {
  const { as } = shape
  if (as?.kind === 'Table') {
    const metadata = {
      ...selfLinkOf(kind, view),
      ...(view.revision !== undefined && { resourceVersion: String(view.revision) }),
    }
    return encodeJsonOrYaml(
      await table([view], kind, metadata, shape, parts, exchange, true),
      shape,
    )
  }
  if (as === undefined && shape.format === 'protobuf') return protobufObject(kind, view, parts)
  const object = await objectFor(kind, view, parts.server.parseStored)
  if (as === undefined) return encodeJsonOrYaml(object, shape)
  if (as.kind === 'PartialObjectMetadataList') throw notAList(kind)
  const partial = partialMetadata(withoutStandIns(kind, object), as.version)
  return shape.format === 'protobuf'
    ? protobufPartial(kind, partial, as)
    : encodeJsonOrYaml(partial, shape)
}

/** A list in protobuf, in pieces; its items, where they are known from a list before it. */
export async function protobufPieces(
  answer: ListAnswer,
  known: Buffer | undefined,
  parts: HttpParts,
  exchange: Exchange,
): Promise<{ items: Buffer; pieces: Buffer[] }> {
  const items = known ?? (await protobufItems(answer, parts))
  const metadata = listMetadata(answer, exchange.target.path)
  const { head, tail } = aroundProtobufItems(answer.kind, metadata, items.length)
  return { items, pieces: [head, items, tail] }
}

/** A list in any other form than JSON as it is stored, and protobuf. */
export async function encodeList(
  answer: ListAnswer,
  shape: Shape,
  parts: HttpParts,
  exchange: Exchange,
): Promise<Buffer> {
  const { kind, entries } = answer
  const { as } = shape
  const metadata = listMetadata(answer, exchange.target.path)
  if (as?.kind === 'Table') {
    if (shape.format === 'json' && !shape.pretty)
      return tableText(answer, metadata, shape, parts, exchange)
    return encodeJsonOrYaml(
      await table(entries, kind, metadata, shape, parts, exchange, true),
      shape,
    )
  }
  if (as?.kind === 'PartialObjectMetadata') throw isAList(kind)
  await convertTogether(kind, entries, parts.server.parseStored)
  const objects = await Promise.all(
    entries.map((entry) => objectFor(kind, entry, parts.server.parseStored)),
  )
  if (as !== undefined) {
    const alone = objects.map((object) => withoutStandIns(kind, object))
    const partial = partialMetadataList(alone, metadata, as.version)
    return shape.format === 'protobuf'
      ? protobufPartial(kind, partial, as)
      : encodeJsonOrYaml(partial, shape)
  }
  const items = kind.itemsCarryType ? objects : objects.map(withoutType)
  const shown = kind.itemsCarryType ? { continue: '', ...metadata } : metadata
  const value = { kind: kind.listKind, apiVersion: kind.apiVersion, metadata: shown, items }
  return encodeJsonOrYaml(value, shape)
}

const selfLinkOf = (kind: Kind, { namespace, name }: ObjectView) =>
  kind.selfLinks && { selfLink: pathOf(kind, namespace, name) }

const withoutType = ({ kind: _kind, apiVersion: _apiVersion, ...rest }: KubeObject) => rest

function listMetadata({ kind, revision, continueToken, remaining }: ListAnswer, path: string) {
  return {
    ...(kind.selfLinks && { selfLink: path }),
    ...(revision > 0 && { resourceVersion: String(revision) }),
    ...(continueToken !== '' && { continue: continueToken }),
    ...(remaining !== undefined && { remainingItemCount: remaining }),
  }
}

/** Objects of custom kinds have one type in Go; the types of others are called by their group's first word. */
const goTypeOf = ({ itemsCarryType, resource }: Kind, custom: string, name: string): string =>
  itemsCarryType
    ? `*unstructured.${custom}`
    : `*${resource.hub.group.split('.')[0] || 'core'}.${name}`

const isAList = (kind: Kind) => {
  const type = goTypeOf(kind, 'UnstructuredList', kind.listKind)
  return notAcceptable(
    `you requested PartialObjectMetadata, but the requested object is a list (${type})`,
  )
}

const notAList = (kind: Kind) =>
  kind.itemsCarryType
    ? new ApiError(500, '', 'content is not a list')
    : notAcceptable(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${goTypeOf(kind, '', kind.kind)})`,
      )

/** Values of kinds that are not resources: Status, Scale, discovery. */
/** `type`: what it is made of, where it is no Status. */
export function encodeValue(value: Value, shape: Shape, type?: Type): Buffer {
  if (shape.format === 'protobuf') return protobufValue(value, type)
  return encodeJsonOrYaml(value, shape)
}

const encodeJsonOrYaml = (value: Loose, shape: Shape): Buffer =>
  shape.format === 'yaml' ? encodeYaml(value) : encodeJson(value, shape.pretty)

const columnsOf = (kind: Kind): Columns =>
  kind.columns ?? kind.resource.behaviour.columns ?? defaultColumns

async function table(
  views: readonly ObjectView[],
  kind: Kind,
  metadata: Loose,
  shape: Shape,
  parts: HttpParts,
  exchange: Exchange,
  headers: boolean,
): Promise<Loose> {
  const include = parseIncludeObject(exchange.query.get('includeObject'))
  const items = await Promise.all(views.map((view) => tableItem(view, kind, parts)))
  const version = shape.as?.version ?? 'v1'
  const now = parts.server.clock.now()
  return tableOf(items, columnsOf(kind), metadata, { version, include, headers, now })
}

const tableRows = new TableRows()

/** The table of a list without a tree of values in between: rows are joined as text. */
async function tableText(
  { kind, entries }: ListAnswer,
  metadata: Loose,
  shape: Shape,
  parts: HttpParts,
  exchange: Exchange,
): Promise<Buffer> {
  const include = parseIncludeObject(exchange.query.get('includeObject'))
  const version = shape.as?.version ?? 'v1'
  const now = parts.server.clock.now()
  const columns = columnsOf(kind)
  await convertTogether(kind, entries, parts.server.parseStored)
  const frame = tableOf([], columns, metadata, { version, include, headers: true, now })
  if (entries.length === 0) return encodeJson(frame)
  const { order } = columns
  const rows: string[] = []
  const toOrder: [KubeObject, string][] = []
  for (const entry of entries) {
    const kept = await tableRows.keep(kind, entry, () => tableItem(entry, kind, parts))
    const row = tableRows.row(kept, columns, now, include, version)
    if (order === undefined) rows.push(row)
    else toOrder.push([kept.item.cellsOf, row])
  }
  if (order !== undefined) toOrder.sort(([a], [b]) => order(a, b))
  for (const [, row] of toOrder) rows.push(row)
  const text = JSON.stringify({ ...frame, rows: [] })
  return Buffer.from(`${text.slice(0, -2)}${rows.join(',')}]}\n`)
}

/** Cells are made from the hub version, the object is shown in the version asked for. */
async function tableItem(view: ObjectView, kind: Kind, parts: HttpParts): Promise<TableItem> {
  const { hub } = kind.resource
  const shown = await objectFor(kind, view, parts.server.parseStored)
  const cellsOf =
    kind === hub || kind.columns !== undefined
      ? shown
      : await convertOne(structuredClone(shown), kind, hub)
  return { shown, cellsOf, alone: withoutStandIns(kind, shown) }
}

/** Annotations that only stand for fields of another version are not metadata when metadata is shown alone. */
function withoutStandIns({ resource }: Kind, object: KubeObject): KubeObject {
  const { annotations, ...metadata } = object.metadata
  const { standInAnnotations: names } = resource.behaviour
  if (annotations === undefined || names === undefined) return object
  const kept = Object.entries(annotations).filter(([name]) => !names.includes(name))
  return {
    ...object,
    metadata: kept.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(kept) },
  }
}

export function otherFramer(
  kind: Kind,
  shape: Shape,
  parts: HttpParts,
  exchange: Exchange,
): TypedFramer {
  let first = true
  const contentType = shape.contentType
  if (shape.format === 'protobuf' && shape.as === undefined) {
    return {
      shape: `protobuf ${kind.apiVersion} ${kind.plural}`,
      contentType,
      frame: (type, entry, revision) => protobufFrame(type, kind, { ...entry, revision }, parts),
      bookmark: (revision) => protobufBookmark(kind, revision),
    }
  }
  return {
    shape: '',
    contentType,
    async frame(type, entry, revision) {
      const view = { ...entry, revision }
      let object: Loose
      if (shape.as?.kind === 'Table') {
        const metadata = { ...selfLinkOf(kind, view), resourceVersion: String(revision) }
        // Frames are asked for together: whether this is the first is known before any of them is made.
        const headers = first
        first = false
        object = await table([view], kind, metadata, shape, parts, exchange, headers)
      } else {
        object = await objectFor(kind, view, parts.server.parseStored)
        if (shape.as?.kind === 'PartialObjectMetadataList') return Buffer.alloc(0)
        if (shape.as !== undefined) {
          const alone = withoutStandIns(kind, object as KubeObject)
          object = partialMetadata(alone, shape.as.version)
        }
      }
      if (shape.format === 'protobuf' && shape.as !== undefined) {
        return protobufFrame(type, kind, view, parts, protobufPartial(kind, object, shape.as))
      }
      return Buffer.from(`${JSON.stringify({ type, object })}\n`)
    },
    bookmark(revision) {
      const object = bookmarkObject(kind, revision)
      // Where objects show their path, the original cannot make one for what has no name, and leaves it as it is.
      const as = kind.selfLinks ? undefined : shape.as
      if (as?.kind === 'PartialObjectMetadataList') return undefined
      if (as?.kind === 'Table') {
        const headers = first
        first = false
        return bookmarkFrame(emptyRow(kind, object, as.version, parts, exchange, headers))
      }
      const shown = as === undefined ? object : withTimes(partialMetadata(object, as.version))
      if (shape.format !== 'protobuf') return bookmarkFrame(shown)
      return as === undefined
        ? protobufBookmark(kind, revision)
        : encodeWatchFrame('BOOKMARK', protobufPartial(kind, shown, as))
    },
  }
}

/** Metadata alone has a time of creation, if only none. */
const withTimes = ({ metadata, ...rest }: Loose): Loose => ({
  ...rest,
  metadata: { ...metadata, creationTimestamp: null },
})

/** A bookmark as a table: one row, of nothing. */
function emptyRow(
  kind: Kind,
  object: KubeObject,
  version: MetaVersion,
  { server }: HttpParts,
  { query }: Exchange,
  headers: boolean,
): Loose {
  const { hub } = kind.resource
  const { resourceVersion } = object.metadata
  const empty = kind.columns === undefined ? bookmarkObject(hub, Number(resourceVersion)) : object
  const cellsOf = { ...empty, metadata: { ...empty.metadata, name: '' } }
  const include = parseIncludeObject(query.get('includeObject'))
  const alone = withTimes(object) as KubeObject
  const options = { version, include, headers, now: server.clock.now() }
  return tableOf([{ shown: object, cellsOf, alone }], columnsOf(kind), { resourceVersion }, options)
}
