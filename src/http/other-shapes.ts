/** Answers that are not stored bytes as they are: indented JSON, YAML, protobuf, tables, metadata alone. */
import type { Loose } from '#api/object-meta.ts'
import { ApiError, notAcceptable } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import { encodeJson } from '#codec/json.ts'
import { partialMetadata, partialMetadataList } from '#codec/partial-metadata.ts'
import { encodeYaml } from '#codec/yaml.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Type } from '#schema/type.ts'
import type { Answer } from '#verbs/answer.ts'
import type { Exchange } from './exchange.ts'
import { withoutStandIns } from './metadata-alone.ts'
import {
  aroundProtobufItems,
  protobufItems,
  protobufObject,
  protobufPartial,
  protobufValue,
} from './protobuf-shapes.ts'
import {
  convertTogether,
  objectFor,
  type ShapeParts,
  selfLinkOf,
  withoutType,
} from './represent.ts'
import type { Shape } from './shape.ts'

const loadTables = loadLater<typeof import('./table-shape.ts')>(import.meta.url, './table-shape')

type Value = Loose & { kind: string; apiVersion: string }
type ListAnswer = Answer & { is: 'list' }

export async function encodeObject(
  { kind, view }: Answer & { is: 'object' },
  shape: Shape,
  parts: ShapeParts,
  exchange: Exchange,
): Promise<Buffer> {
  const { as } = shape
  if (as?.kind === 'Table') {
    const metadata = {
      ...selfLinkOf(kind, view),
      ...(view.revision !== undefined && { resourceVersion: String(view.revision) }),
    }
    const asked = { kind, shape, parts, exchange }
    return encodeJsonOrYaml(await loadTables().table(asked, [view], metadata), shape)
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
  parts: ShapeParts,
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
  parts: ShapeParts,
  exchange: Exchange,
): Promise<Buffer> {
  const { kind, entries } = answer
  const { as } = shape
  const metadata = listMetadata(answer, exchange.target.path)
  if (as?.kind === 'Table') {
    const asked = { kind, shape, parts, exchange }
    const { table, tableText } = loadTables()
    if (shape.format === 'json' && !shape.pretty) return tableText(asked, entries, metadata)
    return encodeJsonOrYaml(await table(asked, entries, metadata), shape)
  }
  if (as?.kind === 'PartialObjectMetadata') throw isAList(kind)
  const parse = parts.server.parseStored
  await convertTogether(kind, entries, parse)
  if (as !== undefined) {
    // One after the other: the metadata is little beside the objects.
    const alone: Loose[] = []
    for (const entry of entries) {
      const { metadata: own } = withoutStandIns(kind, await objectFor(kind, entry, parse))
      alone.push({ metadata: own })
    }
    const partial = partialMetadataList(alone, metadata, as.version)
    return shape.format === 'protobuf'
      ? protobufPartial(kind, partial, as)
      : encodeJsonOrYaml(partial, shape)
  }
  const objects = await Promise.all(entries.map((entry) => objectFor(kind, entry, parse)))
  const items = kind.itemsCarryType ? objects : objects.map(withoutType)
  const shown = kind.itemsCarryType ? { continue: '', ...metadata } : metadata
  const value = { kind: kind.listKind, apiVersion: kind.apiVersion, metadata: shown, items }
  return encodeJsonOrYaml(value, shape)
}

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
    : isNoList(goTypeOf(kind, '', kind.kind))

const isNoList = (type: string) =>
  notAcceptable(
    `you requested PartialObjectMetadataList, but the requested object is not a list (${type})`,
  )

/**
 * Values of kinds that are not resources: Status, Scale, discovery. `type`: what it is made of, where it is no Status. A
 * Status is shown as it is, whatever was asked for.
 */
export function encodeValue(value: Value, shape: Shape, type?: Type, ofCustom = false): Buffer {
  const { as, format } = shape
  if (as === undefined || value.kind === 'Status') {
    return format === 'protobuf' ? protobufValue(value, type) : encodeJsonOrYaml(value, shape)
  }
  if (as.kind !== 'PartialObjectMetadata') throw isNoList(goTypeOfValue(value, ofCustom))
  const partial = partialMetadata(value, as.version)
  return format === 'protobuf'
    ? protobufPartial({ type: type as Type }, partial, as)
    : encodeJsonOrYaml(partial, shape)
}

/** What belongs to a custom kind is what clients know; all else is the server's own. */
const goTypeOfValue = ({ apiVersion, kind }: Value, ofCustom: boolean): string =>
  `*${ofCustom ? 'v1' : apiVersion.split(/[./]/)[0]}.${kind}`

const encodeJsonOrYaml = (value: Loose, shape: Shape): Buffer =>
  shape.format === 'yaml' ? encodeYaml(value) : encodeJson(value, shape.pretty)
