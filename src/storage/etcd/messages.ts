/**
 * The messages of etcd's v3 API that this store uses, written and read by hand. Only the fields it needs are named;
 * whatever else a server sends is passed over. Writers put fields last to first, as the wire writer works backwards.
 */
import { WireReader, WireWriter, wireBytes, wireVarint } from '#base/wire.ts'
import type { Revision } from '#storage/storage.ts'

export interface KeyValue {
  key: string
  modRevision: Revision
  value: Buffer
}

export interface RangeRequest {
  readonly key: string
  /** Absent: the key alone. */
  readonly end?: string
  readonly limit?: number
  readonly revision?: Revision
  readonly countOnly?: boolean
}

export interface RangeResponse {
  revision: Revision
  items: KeyValue[]
  more: boolean
  count: number
}

/** Does a thing if the key was last written at a revision, and reads the key otherwise. */
export interface WriteRequest {
  readonly key: string
  readonly ifRevision: Revision
  /** undefined: a deletion. */
  readonly value: Buffer | undefined
  readonly lease?: number
}

export interface WriteResponse {
  revision: Revision
  succeeded: boolean
  current: KeyValue | undefined
}

export interface WatchEvent {
  deleted: boolean
  item: KeyValue
}

export interface WatchResponse {
  revision: Revision
  /** Negative: the answer to a question about all watches of the stream. */
  watchId: number
  created: boolean
  canceled: boolean
  cancelReason: string
  /** Where history begins, when the watch asked for more; otherwise 0. */
  compactRevision: Revision
  events: WatchEvent[]
}

export function encodeRange(request: RangeRequest): Buffer {
  const writer = new WireWriter(256)
  putRange(writer, request)
  return writer.bytes()
}

export function decodeRange(bytes: Buffer): RangeResponse {
  return readRange(new WireReader(bytes))
}

const compareModRevision = 2

export function encodeWrite(request: WriteRequest): Buffer {
  const writer = new WireWriter((request.value?.length ?? 0) + 3 * request.key.length + 128)
  putMessage(writer, 3, () => putMessage(writer, 1, () => putRange(writer, { key: request.key })))
  putMessage(writer, 2, () => {
    if (request.value) putMessage(writer, 2, () => putPut(writer, request))
    else putMessage(writer, 3, () => putString(writer, 1, request.key))
  })
  putMessage(writer, 1, () => {
    putNumber(writer, 6, request.ifRevision)
    putString(writer, 3, request.key)
    putNumber(writer, 2, compareModRevision)
  })
  return writer.bytes()
}

export function decodeWrite(bytes: Buffer): WriteResponse {
  const response: WriteResponse = { revision: 0, succeeded: false, current: undefined }
  const reader = new WireReader(bytes)
  eachField(reader, (field) => {
    if (field === 1) response.revision = within(reader, readHeader)
    else if (field === 2) response.succeeded = reader.bool()
    else if (field === 3) response.current ??= within(reader, readFirstOfRange)
    else return false
    return true
  })
  return response
}

/** Whatever was there before. */
export function encodePut(key: string, value: Buffer): Buffer {
  const writer = new WireWriter(value.length + key.length + 32)
  putPut(writer, { key, value, ifRevision: 0 })
  return writer.bytes()
}

/** The revision of a write, which is all that is read of its answer. */
export function decodePut(bytes: Buffer): Revision {
  let revision: Revision = 0
  const reader = new WireReader(bytes)
  eachField(reader, (field) => {
    if (field !== 1) return false
    revision = within(reader, readHeader)
    return true
  })
  return revision
}

/** Of what a server says about itself its version, and how large its file is. */
export function decodeStatus(bytes: Buffer): { version: string; sizeBytes: number } {
  let version = ''
  let sizeBytes = 0
  const reader = new WireReader(bytes)
  eachField(reader, (field) => {
    if (field === 2) version = reader.string()
    else if (field === 3) sizeBytes = Number(reader.int64())
    else return false
    return true
  })
  return { version, sizeBytes }
}

export function encodeCompact(revision: Revision): Buffer {
  const writer = new WireWriter(16)
  putNumber(writer, 1, revision)
  return writer.bytes()
}

export function encodeLeaseGrant(id: number, ttlSeconds: number): Buffer {
  const writer = new WireWriter(32)
  putNumber(writer, 2, id)
  putNumber(writer, 1, ttlSeconds)
  return writer.bytes()
}

/** How long the server keeps the lease, which may be longer than was asked. */
export function decodeLeaseGrant(bytes: Buffer): number {
  let ttlSeconds = 0
  const reader = new WireReader(bytes)
  eachField(reader, (field) => {
    if (field !== 3) return false
    ttlSeconds = Number(reader.int64())
    return true
  })
  return ttlSeconds
}

export function encodeWatchCreate(start: string, end: string, from: Revision): Buffer {
  const writer = new WireWriter(256)
  putMessage(writer, 1, () => {
    putNumber(writer, 4, 1)
    putNumber(writer, 3, from)
    putString(writer, 2, end)
    putString(writer, 1, start)
  })
  return writer.bytes()
}

/** Asks how far the watches of a stream have come. */
export function encodeWatchProgress(): Buffer {
  return Buffer.from([(3 << 3) | wireBytes, 0])
}

export function decodeWatch(bytes: Buffer): WatchResponse {
  const response: WatchResponse = {
    revision: 0,
    watchId: 0,
    created: false,
    canceled: false,
    cancelReason: '',
    compactRevision: 0,
    events: [],
  }
  const reader = new WireReader(bytes)
  eachField(reader, (field) => {
    if (field === 1) response.revision = within(reader, readHeader)
    else if (field === 2) response.watchId = Number(reader.int64())
    else if (field === 3) response.created = reader.bool()
    else if (field === 4) response.canceled = reader.bool()
    else if (field === 5) response.compactRevision = Number(reader.int64())
    else if (field === 6) response.cancelReason = reader.string()
    else if (field === 11) response.events.push(within(reader, readEvent))
    else return false
    return true
  })
  return response
}

function putRange(writer: WireWriter, request: RangeRequest): void {
  if (request.countOnly) putNumber(writer, 9, 1)
  if (request.revision) putNumber(writer, 4, request.revision)
  if (request.limit) putNumber(writer, 3, request.limit)
  if (request.end !== undefined) putString(writer, 2, request.end)
  putString(writer, 1, request.key)
}

function putPut(writer: WireWriter, request: WriteRequest): void {
  if (request.lease) putNumber(writer, 3, request.lease)
  writer.delimited(request.value ?? Buffer.alloc(0))
  writer.varint((2 << 3) | wireBytes)
  putString(writer, 1, request.key)
}

function putString(writer: WireWriter, field: number, value: string): void {
  writer.string(value)
  writer.varint((field << 3) | wireBytes)
}

function putNumber(writer: WireWriter, field: number, value: number): void {
  writer.varint(value)
  writer.varint((field << 3) | wireVarint)
}

function putMessage(writer: WireWriter, field: number, put: () => void): void {
  const before = writer.length
  put()
  writer.varint(writer.length - before)
  writer.varint((field << 3) | wireBytes)
}

function readRange(reader: WireReader): RangeResponse {
  const response: RangeResponse = { revision: 0, items: [], more: false, count: 0 }
  eachField(reader, (field) => {
    if (field === 1) response.revision = within(reader, readHeader)
    else if (field === 2) response.items.push(within(reader, readKeyValue))
    else if (field === 3) response.more = reader.bool()
    else if (field === 4) response.count = Number(reader.int64())
    else return false
    return true
  })
  return response
}

/** The key a failed write met, from the answer to its read. */
function readFirstOfRange(reader: WireReader): KeyValue | undefined {
  let item: KeyValue | undefined
  eachField(reader, (field) => {
    if (field !== 1) return false
    item = within(reader, readRange).items[0]
    return true
  })
  return item
}

function readHeader(reader: WireReader): Revision {
  let revision = 0
  eachField(reader, (field) => {
    if (field !== 3) return false
    revision = Number(reader.int64())
    return true
  })
  return revision
}

function readKeyValue(reader: WireReader): KeyValue {
  const item: KeyValue = { key: '', modRevision: 0, value: Buffer.alloc(0) }
  eachField(reader, (field) => {
    if (field === 1) item.key = reader.string()
    else if (field === 3) item.modRevision = Number(reader.int64())
    else if (field === 5) item.value = copied(reader.bytes())
    else return false
    return true
  })
  return item
}

function readEvent(reader: WireReader): WatchEvent {
  const event: WatchEvent = {
    deleted: false,
    item: { key: '', modRevision: 0, value: Buffer.alloc(0) },
  }
  eachField(reader, (field) => {
    if (field === 1) event.deleted = reader.int32() === 1
    else if (field === 2) event.item = within(reader, readKeyValue)
    else return false
    return true
  })
  return event
}

/** Its own memory: a value kept for long must not keep the whole message it came in. */
function copied(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

function eachField(reader: WireReader, read: (field: number) => boolean): void {
  while (!reader.done) {
    const tag = reader.tag()
    if (!read(tag >>> 3)) reader.skip(tag)
  }
}

function within<T>(reader: WireReader, read: (reader: WireReader) => T): T {
  const outer = reader.enter()
  const value = read(reader)
  reader.leave(outer)
  return value
}
