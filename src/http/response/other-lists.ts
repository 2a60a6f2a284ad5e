/**
 * Lists in representations other than JSON: indented JSON, YAML, protobuf, tables, metadata.
 * Encoding yields to other requests.
 */
import type { Loose } from '#api/object-meta.ts'
import { notAcceptable } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import { encodeJson } from '#codec/json.ts'
import { partialMetadata, partialMetadataList } from '#codec/partial-metadata.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Answer } from '#verbs/answer.ts'
import type { Entry } from '#watchcache/entry.ts'
import type { Exchange } from '#http/exchange.ts'
import { withoutConversionAnnotations } from './metadata-alone.ts'
import { goTypeOf } from './other-shapes.ts'
import { aroundProtobufItems, protobufItems, protobufPartial } from './protobuf-shapes.ts'
import { convertTogether, objectFor, type ShapeParts, withoutType } from './represent.ts'
import { RequestTurns } from './request-turns.ts'
import type { Shape } from './shape.ts'
import { yamlList } from './yaml-list.ts'

const loadCbor = loadLater<typeof import('./cbor-shapes.ts')>(import.meta.url, './cbor-shapes')
const loadTables = loadLater<typeof import('./table-shape.ts')>(import.meta.url, './table-shape')

type ListAnswer = Answer & { is: 'list' }

/**
 * A protobuf list in pieces, and its items. `known`: the items, if an earlier list encoded them.
 */
export async function protobufPieces(
  answer: ListAnswer,
  known: Buffer | undefined,
  parts: ShapeParts,
  exchange: Exchange,
): Promise<{ items: Buffer; pieces: Buffer[] }> {
  const items = known ?? (await protobufItems(answer, parts, new RequestTurns(exchange)))
  const metadata = listMetadata(answer, exchange.target.path)
  const { head, tail } = aroundProtobufItems(answer.kind, metadata, items.length)
  return { items, pieces: [head, items, tail] }
}

/** Encodes a list in a representation other than the stored JSON. */
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
    const { table, tableText, tableYaml } = loadTables()
    if (shape.format === 'yaml') return tableYaml(asked, entries, metadata)
    if (!shape.pretty) return tableText(asked, entries, metadata)
    return encodeJson(await table(asked, entries, metadata), true)
  }
  if (as?.kind === 'PartialObjectMetadata') throw isAList(kind)
  const parse = parts.server.parseStored
  await convertTogether(kind, entries, parse)
  const object = (entry: Entry) => objectFor(kind, entry, parse)
  if (as !== undefined) {
    const alone = async (entry: Entry): Promise<Loose> =>
      partialMetadata(withoutConversionAnnotations(kind, await object(entry)), as.version)
    if (shape.format === 'yaml') {
      const frame = partialMetadataList([], metadata, as.version)
      return yamlList(exchange, frame, 'items', entries, alone)
    }
    const items = await oneByOne(exchange, entries, alone)
    const partial = partialMetadataList(items, metadata, as.version)
    if (shape.format === 'cbor') return loadCbor().cborValue(partial)
    return shape.format === 'protobuf'
      ? protobufPartial(kind, partial, as)
      : encodeJson(partial, shape.pretty)
  }
  const item = async (entry: Entry): Promise<Loose> =>
    kind.itemsCarryType ? object(entry) : withoutType(await object(entry))
  const shown = kind.itemsCarryType ? { continue: '', ...metadata } : metadata
  const frame = { kind: kind.listKind, apiVersion: kind.apiVersion, metadata: shown, items: [] }
  if (shape.format === 'yaml') return yamlList(exchange, frame, 'items', entries, item)
  const list = { ...frame, items: await oneByOne(exchange, entries, item) }
  return shape.format === 'cbor' ? loadCbor().cborList(kind, list) : encodeJson(list, shape.pretty)
}

/** Maps many items, and yields to other requests in between. */
async function oneByOne<One, Made>(
  exchange: Exchange,
  many: readonly One[],
  make: (one: One) => Promise<Made>,
): Promise<Made[]> {
  const turns = new RequestTurns(exchange)
  const made: Made[] = []
  for (const one of many) {
    made.push(await make(one))
    if (turns.over) await turns.next()
  }
  return made
}

function listMetadata({ kind, revision, continueToken, remaining }: ListAnswer, path: string) {
  return {
    ...(kind.selfLinks && { selfLink: path }),
    ...(revision > 0 && { resourceVersion: String(revision) }),
    ...(continueToken !== '' && { continue: continueToken }),
    ...(remaining !== undefined && { remainingItemCount: remaining }),
  }
}

const isAList = (kind: Kind) => {
  const type = goTypeOf(kind, 'UnstructuredList', kind.listKind)
  return notAcceptable(
    `you requested PartialObjectMetadata, but the requested object is a list (${type})`,
  )
}
