/** Makes cache entries from stored bytes. Objects that this process wrote are not parsed again. */
import type { KubeObject } from '#api/object-meta.ts'
import { copyData } from '#base/copy-data.ts'
import { type CutObject, cutStored, encodeCut } from '#codec/cut-object.ts'
import type { Resource } from '#kinds/kind.ts'
import { isStale, type Revision } from '#storage/storage.ts'
import type { Entry, ParseStored } from './entry.ts'
import { cacheParsed } from './parsed-objects.ts'

/**
 * Objects that this process wrote, by the buffer passed to the store. The feed returns the same
 * buffer.
 */
const ownWrites = new WeakMap<Buffer, OwnWrite>()

interface OwnWrite {
  readonly object: KubeObject
  readonly cut: CutObject
  readonly fields: readonly string[] | undefined
  /**
   * The resource at the time of the write: after a definition has changed, its objects are read
   * again.
   */
  readonly resource: Resource | undefined
}

/**
 * Bytes of entries that differ from the stored bytes. The object was converted by the current
 * rules, or encrypted with another key.
 */
const readOtherwise = new WeakSet<Buffer>()

/** Whether a write of an identical object would change the stored bytes. */
export const isStoredOtherwise = (bytes: Buffer): boolean =>
  readOtherwise.has(bytes) || isStale(bytes)

/**
 * Encodes an object in the stored version and remembers it for the feed. `bytes` are the stored
 * bytes if they are not this JSON.
 */
export function encodeForStorage(
  object: KubeObject,
  fields: readonly string[] | undefined,
  resource?: Resource,
  bytes?: Buffer,
): CutObject {
  const cut = encodeCut(object)
  ownWrites.set(bytes ?? cut.bytes, { object, cut, fields, resource })
  return cut
}

export interface EntryMaker {
  /** `isRead`: the caller uses the object immediately. */
  make(key: string, revision: Revision, bytes: Buffer, isRead?: boolean): Entry
}

export function entryMaker(resource: Resource, parse: ParseStored): EntryMaker {
  const hub = resource.hub
  const { selectsByFields = true } = resource
  const fieldsOf = (object: KubeObject): readonly string[] | undefined => {
    if (!selectsByFields) return undefined
    const { selectableFields } = resource.behaviour
    if (selectableFields === undefined) return undefined
    const from = resource.kindOf(object.apiVersion as string) ?? resource.stored
    if (from === hub) return Object.values(selectableFields(object))
    const converted = resource.convert([copyData(object)], from, hub)
    return converted instanceof Promise ? undefined : Object.values(selectableFields(converted[0]))
  }
  return {
    make(key, revision, bytes, isRead = false) {
      const written = ownWrites.get(bytes)
      // Remove the object from the map: the entry keeps the bytes, which would keep the object in
      // memory.
      ownWrites.delete(bytes)
      const own =
        resource.restore === undefined || written?.resource === resource ? written : undefined
      const parsed = own?.object ?? parse(bytes)
      const restored = own === undefined ? resource.restore?.(parsed) : undefined
      const object = restored ?? parsed
      const cut =
        restored === undefined ? (own?.cut ?? cutStored(bytes, object)) : encodeCut(restored)
      if (restored !== undefined || isStale(bytes)) readOtherwise.add(cut.bytes)
      const { metadata } = object
      const entry: Entry = {
        key,
        namespace: metadata.namespace ?? '',
        name: metadata.name ?? '',
        revision,
        cut,
        apiVersion: object.apiVersion as string,
        labels: metadata.labels,
        fields: own === undefined ? fieldsOf(object) : own.fields,
      }
      if (isRead) cacheParsed(entry, object)
      return entry
    },
  }
}
