/**
 * The protobuf format of the API. Objects and lists have an envelope: `k8s`, a zero byte, the kind,
 * and the message. Watch events are frames with a length prefix. The caller provides the types.
 *
 *   6b 38 73 00 | 0a TypeMeta{apiVersion, kind} | 12 message | 1a 00 (encoding) |
 *   22 00 (content type)
 */
import './exact-integer.ts'
import type { Loose } from '#api/object-meta.ts'
import { WireError, WireReader, WireWriter, wireBytes } from '#base/wire.ts'
import { field, scalar, structOf } from '#schema/make-type.ts'
import type { Struct, Type } from '#schema/type.ts'
import { readMessage } from './protobuf-decode.ts'
import { writeMessage } from './protobuf-encode.ts'

/** The contents of an envelope. */
export interface Envelope {
  readonly apiVersion: string
  readonly kind: string
  readonly raw: Buffer
}

export interface TypeHeader {
  readonly apiVersion: string
  readonly kind: string
}

export interface ListMeta {
  readonly selfLink?: string
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

const magic = Buffer.from('6b387300', 'hex')
const bytesTag = (number: number) => number * 8 + wireBytes

const string = scalar('string')
const listMetaType = structOf('io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta', [
  field('selfLink', string, 1, 'o'),
  field('resourceVersion', string, 2, 'o'),
  field('continue', string, 3, 'o'),
  field('remainingItemCount', scalar('int64'), 4, 'op'),
])

/** Encoding is synchronous, so all calls share one writer. */
const writer = new WireWriter(64 * 1024)
/** A writer's buffer above this size is released after use. */
const keptBytesMax = 4 * 1024 * 1024

function written(write: (into: WireWriter) => void): Buffer {
  const into = new WireWriter(1024)
  write(into)
  return into.bytes()
}

/**
 * Encodes one object without kind and apiVersion, as an item of a list. The result may be cached.
 */
export function encodeItem(type: Type, object: Loose): Buffer {
  writer.clear()
  writeMessage(writer, type as Struct, object)
  const bytes = writer.ownBytes()
  if (writer.length > keptBytesMax) writer.shrink()
  return bytes
}

/** The envelope before a message of this length. */
const envelopeHead = ({ apiVersion, kind }: TypeHeader, rawLength: number): Buffer =>
  written((into) => {
    into.varint(rawLength)
    into.byte(bytesTag(2))
    const start = into.length
    into.string(kind)
    into.byte(bytesTag(2))
    into.string(apiVersion)
    into.byte(bytesTag(1))
    into.varint(into.length - start)
    into.byte(bytesTag(1))
    into.raw(magic)
  })

const envelopeTail = Buffer.from([bytesTag(3), 0, bytesTag(4), 0])

/** Adds the envelope to a message. */
export const wrapMessage = (header: TypeHeader, message: Buffer): Buffer =>
  Buffer.concat([envelopeHead(header, message.length), message, envelopeTail])

export function encodeObject(type: Type, object: Loose): Buffer {
  const header = { apiVersion: object['apiVersion'] ?? '', kind: object['kind'] ?? '' }
  return wrapMessage(header, encodeItem(type, object))
}

/** Encodes a list of encoded items. `header` names the list: `v1`, `PodList`. */
export function encodeList(
  header: TypeHeader,
  items: readonly Buffer[],
  metadata: ListMeta,
): Buffer {
  const body = encodeItems(items)
  const { head, tail } = aroundItems(header, metadata, body.length)
  return Buffer.concat([head, body, tail])
}

/**
 * Encodes the items of a list, each with its tag and length. The result does not depend on the list
 * and may be cached.
 */
export function encodeItems(items: readonly Buffer[]): Buffer {
  let length = 0
  for (const item of items) length += 1 + varintSize(item.length) + item.length
  const out = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const item of items) {
    out[at++] = bytesTag(2)
    at = putVarint(out, at, item.length)
    at += item.copy(out, at)
  }
  return out
}

/** The bytes before and after the items of a list. */
export function aroundItems(
  header: TypeHeader,
  metadata: ListMeta,
  itemsLength: number,
): { head: Buffer; tail: Buffer } {
  const meta = written((into) => {
    writeMessage(into, listMetaType, metadata as Loose)
    into.varint(into.length)
    into.byte(bytesTag(1))
  })
  const head = Buffer.concat([envelopeHead(header, meta.length + itemsLength), meta])
  return { head, tail: envelopeTail }
}

const varintSize = (value: number) =>
  value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5

function putVarint(out: Buffer, at: number, value: number): number {
  let rest = value
  let end = at
  while (rest >= 0x80) {
    out[end++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  out[end++] = rest
  return end
}

/**
 * Encodes one watch event: four bytes of length, then the event with the object in its envelope.
 * The result may be cached.
 */
export function encodeWatchFrame(type: string, object: Buffer): Buffer {
  const event = written((into) => {
    into.delimited(object)
    into.byte(bytesTag(1))
    into.varint(into.length)
    into.byte(bytesTag(2))
    into.string(type)
    into.byte(bytesTag(1))
  })
  const lengthBytes = 4
  const frame = Buffer.allocUnsafeSlow(lengthBytes + event.length)
  event.copy(frame, frame.writeUInt32BE(event.length))
  return frame
}

/** The bytes are not a valid envelope; the message is Kubernetes'. */
export class EnvelopeError extends Error {
  override name = 'EnvelopeError'
}

/** Decodes the envelope. Throws EnvelopeError. */
export function openEnvelope(bytes: Buffer): Envelope {
  if (bytes.length === 0) throw new EnvelopeError('empty data')
  if (bytes.length < magic.length || !bytes.subarray(0, magic.length).equals(magic)) {
    throw new EnvelopeError(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    )
  }
  if (bytes.length === magic.length) throw new EnvelopeError('empty body')
  try {
    return readUnknown(new WireReader(bytes, magic.length))
  } catch (error) {
    if (error instanceof WireError) throw new EnvelopeError(error.message)
    throw error
  }
}

/** The fields of the envelope and of TypeMeta by number; all have wire type bytes. */
const unknownFields = ['', 'TypeMeta', 'Raw', 'ContentEncoding', 'ContentType']
const typeFields = ['', 'APIVersion', 'Kind']

function readUnknown(reader: WireReader): Envelope {
  let [apiVersion, kind, raw] = ['', '', Buffer.alloc(0)]
  while (!reader.done) {
    const tag = bytesFieldTag(reader, 'Unknown', unknownFields)
    if (tag === bytesTag(1)) {
      const outer = reader.enter()
      while (!reader.done) {
        const inner = bytesFieldTag(reader, 'TypeMeta', typeFields)
        if (inner === bytesTag(1)) apiVersion = reader.string()
        else if (inner === bytesTag(2)) kind = reader.string()
        else reader.skip(inner)
      }
      reader.leave(outer)
    } else if (tag === bytesTag(2)) raw = reader.bytes() as Buffer<ArrayBuffer>
    else reader.skip(tag)
  }
  return { apiVersion, kind, raw }
}

function bytesFieldTag(reader: WireReader, message: string, names: readonly string[]): number {
  const tag = reader.tag(message)
  const name = names[tag >>> 3]
  if (name !== undefined && (tag & 7) !== wireBytes)
    throw new WireError(`proto: wrong wireType = ${tag & 7} for field ${name}`)
  return tag
}

/**
 * Decodes a message with JSON's names and scalars, which the caller must conform. Throws WireError.
 */
export const decodeMessage = (type: Type, raw: Buffer): Loose =>
  readMessage(new WireReader(raw), type as Struct)
