/**
 * Encodes and decodes the messages of etcd's v3 API that this store uses. Only the needed fields
 * are named; all others are skipped. Encoders write fields from last to first, because the wire
 * writer works backwards.
 */
import { WireReader, WireWriter, wireBytes, wireVarint } from '#base/wire.ts'
import type { Revision } from '#storage/storage.ts'

export interface KeyValue {
  key: string
  modRevision: Revision
  /** The number of writes since its creation. */
  version: number
  value: Buffer
}

export interface RangeRequest {
  readonly key: string
  /** If absent, only `key` is read. */
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

/**
 * Writes or deletes the key if its last write has the given revision. Otherwise it reads the key,
 * unless the key must not exist. kube-apiserver uses only these transactions, and servers that
 * imitate etcd support no others.
 */
export interface EtcdWrite {
  readonly key: string
  readonly ifRevision: Revision
  /** undefined deletes the key. */
  readonly value: Buffer | undefined
  readonly lease?: number
  /** No other write has this value. */
  readonly isUnique?: boolean | undefined
}

export interface WriteResponse {
  revision: Revision
  succeeded: boolean
  /**
   * The current value after a failed write; the previous value after a deletion, if the server
   * returns it.
   */
  found: KeyValue | undefined
  /** The number of deleted keys. */
  deleted: number
}

/** The key in which kube-apiservers agree on the next compaction. */
const compactionKey = 'compact_rev_key'

export interface CompactionResponse {
  succeeded: boolean
  /** After a failure: the version of the key, and the revision of the announced compaction. */
  version: number
  upTo: Revision
}

export interface WatchEvent {
  deleted: boolean
  item: KeyValue
}

export interface WatchResponse {
  revision: Revision
  /** Negative in a progress response for all watches of the stream. */
  watchId: number
  created: boolean
  canceled: boolean
  cancelReason: string
  /** The oldest available revision if the requested start was compacted; otherwise 0. */
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

/** The comparisons of a transaction: the number of the target, and of the field with its value. */
const version = { target: 0, field: 4 }
const modRevision = { target: 2, field: 6 }

export function encodeWrite(request: EtcdWrite): Buffer {
  const { key, ifRevision, value } = request
  const writer = new WireWriter((value?.length ?? 0) + 3 * key.length + 128)
  if (ifRevision > 0) putElse(writer, key)
  putMessage(writer, 2, () => {
    if (value) putMessage(writer, 2, () => putPut(writer, { ...request, value }))
    else putMessage(writer, 3, () => putString(writer, 1, key))
  })
  putIf(writer, key, modRevision, ifRevision)
  return writer.bytes()
}

/**
 * Announces the revision of the next compaction, unless another server changed the key since
 * `ifVersion`.
 */
export function encodeCompaction(ifVersion: number, upTo: Revision): Buffer {
  const writer = new WireWriter(128)
  putElse(writer, compactionKey)
  const put = { key: compactionKey, value: Buffer.from(`${upTo}`) }
  putMessage(writer, 2, () => putMessage(writer, 2, () => putPut(writer, put)))
  putIf(writer, compactionKey, version, ifVersion)
  return writer.bytes()
}

export function decodeCompaction(bytes: Buffer): CompactionResponse {
  const { succeeded, found } = decodeWrite(bytes)
  return { succeeded, version: found?.version ?? 0, upTo: Number(found?.value.toString()) || 0 }
}

export function decodeWrite(bytes: Buffer): WriteResponse {
  const response: WriteResponse = { revision: 0, succeeded: false, found: undefined, deleted: 0 }
  const reader = new WireReader(bytes)
  eachField(reader, (field) => {
    if (field === 1) response.revision = within(reader, readHeader)
    else if (field === 2) response.succeeded = reader.bool()
    else if (field === 3) within(reader, () => readDone(reader, response))
    else return false
    return true
  })
  return response
}

export interface EtcdStatus {
  version: string
  sizeBytes: number
  /**
   * Whether the response has a member ID. Every etcd sends one; servers that imitate etcd do not.
   */
  isMember: boolean
}

export function decodeStatus(bytes: Buffer): EtcdStatus {
  const status: EtcdStatus = { version: '', sizeBytes: 0, isMember: false }
  const reader = new WireReader(bytes)
  eachField(reader, (field) => {
    if (field === 1) status.isMember = within(reader, readMemberId) !== 0n
    else if (field === 2) status.version = reader.string()
    else if (field === 3) status.sizeBytes = Number(reader.int64())
    else return false
    return true
  })
  return status
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

/** The server's ID of the lease, which may differ from the requested one. */
export function decodeLeaseGrant(bytes: Buffer): number {
  let id = 0
  const reader = new WireReader(bytes)
  eachField(reader, (field) => {
    if (field !== 2) return false
    id = Number(reader.int64())
    return true
  })
  return id
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

/** Requests the progress of a stream's watches. */
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

function putIf(writer: WireWriter, key: string, compared: typeof version, value: number): void {
  putMessage(writer, 1, () => {
    putNumber(writer, compared.field, value)
    putString(writer, 3, key)
    putNumber(writer, 2, compared.target)
  })
}

function putElse(writer: WireWriter, key: string): void {
  putMessage(writer, 3, () => putMessage(writer, 1, () => putRange(writer, { key })))
}

function putPut(
  writer: WireWriter,
  request: { key: string; value: Buffer; lease?: number | undefined },
): void {
  if (request.lease) putNumber(writer, 3, request.lease)
  writer.delimited(request.value)
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

/**
 * Reads the result of the transaction's only operation: a read after a failed comparison, or a
 * deletion.
 */
function readDone(reader: WireReader, response: WriteResponse): void {
  eachField(reader, (field) => {
    if (field === 1) response.found = within(reader, readRange).items[0]
    else if (field === 3) within(reader, () => readDeletion(reader, response))
    else return false
    return true
  })
}

function readDeletion(reader: WireReader, response: WriteResponse): void {
  eachField(reader, (field) => {
    if (field === 2) response.deleted = Number(reader.int64())
    else if (field === 3) response.found = within(reader, readKeyValue)
    else return false
    return true
  })
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

function readMemberId(reader: WireReader): bigint {
  let id = 0n
  eachField(reader, (field) => {
    if (field !== 2) return false
    id = BigInt(reader.int64())
    return true
  })
  return id
}

function readKeyValue(reader: WireReader): KeyValue {
  const item: KeyValue = { key: '', modRevision: 0, version: 0, value: Buffer.alloc(0) }
  eachField(reader, (field) => {
    if (field === 1) item.key = reader.string()
    else if (field === 3) item.modRevision = Number(reader.int64())
    else if (field === 4) item.version = Number(reader.int64())
    else if (field === 5) item.value = copied(reader.bytes())
    else return false
    return true
  })
  return item
}

function readEvent(reader: WireReader): WatchEvent {
  const event: WatchEvent = {
    deleted: false,
    item: { key: '', modRevision: 0, version: 0, value: Buffer.alloc(0) },
  }
  eachField(reader, (field) => {
    if (field === 1) event.deleted = reader.int32() === 1
    else if (field === 2) event.item = within(reader, readKeyValue)
    else return false
    return true
  })
  return event
}

/** Copies the value: a cached slice would keep the whole message in memory. */
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
