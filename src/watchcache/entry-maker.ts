/**
 * From bytes of the store to entries of the live picture. What this process has just written is
 * taken over without being parsed again.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { copyData } from '#base/copy-data.ts'
import { type CutObject, cutStored, encodeCut } from '#codec/cut-object.ts'
import type { Resource } from '#kinds/kind.ts'
import { isStale, type Revision } from '#storage/storage.ts'
import type { Entry, ParseStored } from './entry.ts'
import { keepAtHand } from './parsed-objects.ts'

/**
 * Own writes, known by the very buffer that went to the store: the feed hands the same buffer back,
 * and nothing needs to be parsed that this process has just encoded.
 */
const ownWrites = new WeakMap<Buffer, OwnWrite>()

interface OwnWrite {
  readonly object: KubeObject
  readonly cut: CutObject
  readonly fields: readonly string[] | undefined
  /** What it was written for: a resource that is defined anew reads its objects anew. */
  readonly resource: Resource | undefined
}

/**
 * Bytes of entries that are not what is stored: the object was read as the present rules read it,
 * or sealed otherwise.
 */
const readOtherwise = new WeakSet<Buffer>()

/** Whether a write of the very same object would change what is stored. */
export const isStoredOtherwise = (bytes: Buffer): boolean =>
  readOtherwise.has(bytes) || isStale(bytes)

/**
 * Encodes an object of the stored version and remembers it for the feed. `bytes`: what goes to
 * `storage.put` where that is not the JSON that is made here.
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
  /** `isRead`: the caller uses the object itself right afterwards. */
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
      // Taken over once: the bytes live on in the entry, and must not keep the whole object with
      // them.
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
      if (isRead) keepAtHand(entry, object)
      return entry
    },
  }
}
