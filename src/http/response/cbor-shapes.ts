/** Responses and events in CBOR. Loaded with the first of them. */
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { encodeCbor, encodeCborEvent } from '#codec/cbor/encode.ts'
import type { Kind } from '#kinds/kind.ts'
import { field, listOf, structOf } from '#schema/make-type.ts'
import type { Type } from '#schema/type.ts'
import type { EventType } from '#watchcache/batch.ts'

/**
 * Objects of custom kinds contain no byte strings, and integers where their schema allows any
 * number.
 */
const typeOf = (kind: Kind): Type | undefined => (kind.decoding === 'typed' ? kind.type : undefined)

export const cborObject = (kind: Kind, object: KubeObject | Loose): Buffer =>
  encodeCbor(object as Json, typeOf(kind))

export const cborValue = (value: Loose, type?: Type): Buffer => encodeCbor(value as Json, type)

/** `frame`: the list with its items. */
export function cborList(kind: Kind, frame: Loose): Buffer {
  const type = typeOf(kind)
  const listType = type && structOf('', [field('items', listOf(type), 1)])
  return encodeCbor(frame as Json, listType)
}

/** `object`: the document inside the event. */
export const cborFrame = (type: EventType | 'BOOKMARK' | 'ERROR', object: Buffer): Buffer =>
  encodeCborEvent(type, object)
