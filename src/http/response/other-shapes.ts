/** Representations other than the stored bytes: indented JSON, YAML, protobuf, tables, metadata. */
import type { Loose } from '#api/object-meta.ts'
import { notAcceptable } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import { encodeJson } from '#codec/json.ts'
import { partialMetadata } from '#codec/partial-metadata.ts'
import { encodeYaml } from '#codec/yaml.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Type } from '#schema/type.ts'
import type { Answer } from '#verbs/answer.ts'
import type { Exchange } from '#http/exchange.ts'
import { withoutConversionAnnotations } from './metadata-alone.ts'
import { protobufObject, protobufPartial, protobufValue } from './protobuf-shapes.ts'
import { objectFor, type ShapeParts, selfLinkOf } from './represent.ts'
import type { Shape } from './shape.ts'

const loadCbor = loadLater<typeof import('./cbor-shapes.ts')>(import.meta.url, './cbor-shapes')
const loadTables = loadLater<typeof import('./table-shape.ts')>(import.meta.url, './table-shape')

type Value = Loose & { kind: string; apiVersion: string }

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
    return encodeOther(await loadTables().table(asked, [view], metadata), shape)
  }
  if (as === undefined && shape.format === 'protobuf') return protobufObject(kind, view, parts)
  const object = await objectFor(kind, view, parts.server.parseStored)
  if (as === undefined) {
    return shape.format === 'cbor'
      ? loadCbor().cborObject(kind, object)
      : encodeOther(object, shape)
  }
  if (as.kind === 'PartialObjectMetadataList') {
    throw isNoList(goTypeOf(kind, 'Unstructured', kind.kind))
  }
  const partial = partialMetadata(withoutConversionAnnotations(kind, object), as.version)
  return shape.format === 'protobuf'
    ? protobufPartial(kind, partial, as)
    : encodeOther(partial, shape)
}

/** In Go all custom kinds have one type; other types are named by the first part of their group. */
export const goTypeOf = (
  { itemsCarryType, resource }: Kind,
  custom: string,
  name: string,
): string =>
  itemsCarryType
    ? `*unstructured.${custom}`
    : `*${resource.hub.group.split('.')[0] || 'core'}.${name}`

const isNoList = (type: string) =>
  notAcceptable(
    `you requested PartialObjectMetadataList, but the requested object is not a list (${type})`,
  )

/**
 * Encodes kinds that are not resources: Status, Scale, discovery. `type` is the value's type,
 * except for a Status. A Status is never transformed.
 */
export function encodeValue(value: Value, shape: Shape, type?: Type, ofCustom = false): Buffer {
  const { as, format } = shape
  if (as === undefined || value.kind === 'Status') {
    return format === 'protobuf' ? protobufValue(value, type) : encodeOther(value, shape, type)
  }
  if (as.kind !== 'PartialObjectMetadata') throw isNoList(goTypeOfValue(value, ofCustom))
  const partial = partialMetadata(value, as.version)
  return format === 'protobuf'
    ? protobufPartial({ type: type as Type }, partial, as)
    : encodeOther(partial, shape)
}

/** Values of a custom kind have client-side types in Go, all others the server's internal types. */
const goTypeOfValue = ({ apiVersion, kind }: Value, ofCustom: boolean): string =>
  `*${ofCustom ? 'v1' : apiVersion.split(/[./]/)[0]}.${kind}`

function encodeOther(value: Loose, shape: Shape, type?: Type): Buffer {
  if (shape.format === 'cbor') return loadCbor().cborValue(value, type)
  return shape.format === 'yaml' ? encodeYaml(value) : encodeJson(value, shape.pretty)
}
