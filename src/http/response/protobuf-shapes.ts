/**
 * Protobuf responses. The message of an object is encoded once per version and cached with the
 * object's bytes.
 */
import type { Loose } from '#api/object-meta.ts'
import { notAcceptable } from '#api/status-error.ts'
import type { Transform } from '#codec/media-type.ts'
import { partialMetadataType } from '#codec/partial-metadata.ts'
import {
  aroundItems,
  encodeItem,
  encodeItems,
  encodeObject,
  encodeWatchFrame,
  type ListMeta,
  wrapMessage,
} from '#codec/protobuf.ts'
import { statusType } from '#codec/status-type.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Struct, Type } from '#schema/type.ts'
import type { Answer, ObjectView } from '#verbs/answer.ts'
import type { EventType } from '#watchcache/batch.ts'
import { bookmarkObject } from '#http/watch/bookmark.ts'
import { objectFor, type ShapeParts } from './represent.ts'
import type { RequestTurns } from './request-turns.ts'

/** Encoded messages by the bytes of their objects; they are freed with the object. */
const messages = new WeakMap<Buffer, Map<string, Buffer>>()

const nameOf = (kind: Kind, { revision }: ObjectView) => `${kind.apiVersion} ${revision}`

function knownMessage(kind: Kind, view: ObjectView): Buffer | undefined {
  return messages.get(view.cut.bytes)?.get(nameOf(kind, view))
}

async function makeMessage(kind: Kind, view: ObjectView, parts: ShapeParts): Promise<Buffer> {
  const object = await objectFor(kind, view, parts.server.parseStored)
  const message = encodeItem(kind.type, object)
  const versions = messages.get(view.cut.bytes) ?? new Map<string, Buffer>()
  if (versions.size > 3) versions.clear()
  versions.set(nameOf(kind, view), message)
  messages.set(view.cut.bytes, versions)
  return message
}

export async function protobufObject(
  kind: Kind,
  view: ObjectView,
  parts: ShapeParts,
): Promise<Buffer> {
  return wrapMessage(kind, knownMessage(kind, view) ?? (await makeMessage(kind, view, parts)))
}

/** The items of a list, joined. `turns` lets other work run in between. */
export async function protobufItems(
  { kind, entries }: Answer & { is: 'list' },
  parts: ShapeParts,
  turns: RequestTurns,
): Promise<Buffer> {
  const items: Buffer[] = []
  for (const entry of entries) {
    items.push(knownMessage(kind, entry) ?? (await makeMessage(kind, entry, parts)))
    if (turns.over) await turns.next()
  }
  return encodeItems(items)
}

/** The bytes before and after the items of a list. */
export const aroundProtobufItems = (kind: Kind, metadata: ListMeta, itemsLength: number) =>
  aroundItems({ apiVersion: kind.apiVersion, kind: kind.listKind }, metadata, itemsLength)

export function protobufPartial({ type }: Pick<Kind, 'type'>, value: Loose, as: Transform): Buffer {
  const objectMeta = (type as Struct).byName?.get('metadata')?.type as Type
  return encodeObject(partialMetadataType(objectMeta, value.kind, as.version), value)
}

export async function protobufFrame(
  type: EventType,
  kind: Kind,
  view: ObjectView,
  parts: ShapeParts,
): Promise<Buffer> {
  return encodeWatchFrame(type, await protobufObject(kind, view, parts))
}

export function protobufBookmark(kind: Kind, revision: number, endsInitial?: boolean): Buffer {
  const object = bookmarkObject(kind, revision, endsInitial)
  return encodeWatchFrame('BOOKMARK', encodeObject(kind.type, object))
}

/** Encodes a value that is not a resource: a Status, or a value with the given type. */
export function protobufValue(value: Loose, type: Type | undefined): Buffer {
  const known = value.kind === 'Status' ? statusType : type
  if (known === undefined) throw notAcceptable(`${value.kind} has no protobuf form`)
  return encodeObject(known, value)
}
