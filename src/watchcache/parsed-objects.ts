/**
 * Caches recently parsed objects until the end of the turn of the event loop, so that all watchers
 * of a change share one object. The objects are read-only.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { Revision } from '#storage/storage.ts'
import type { Entry, ParseStored } from './entry.ts'

/** The parsed object of an entry, and the result derived from it for watchers. */
export interface ParsedEntry {
  readonly object: KubeObject
  shown: Shown | undefined
}

/** The form of an object that all watchers of one version receive. */
export interface Shown {
  readonly as: object
  readonly revision: Revision
  readonly object: KubeObject
}

/**
 * After this many objects, those before the last batch of this size are released, which limits the
 * memory of a long turn.
 */
const objectsMax = 1000

let objects = new Map<Entry, ParsedEntry>()
let older = objects
let willForget = false

export function cacheParsed(entry: Entry, object: KubeObject): ParsedEntry {
  if (objects.size >= objectsMax) {
    older = objects
    objects = new Map()
  }
  const kept: ParsedEntry = { object, shown: undefined }
  objects.set(entry, kept)
  if (!willForget) {
    willForget = true
    setImmediate(forget)
  }
  return kept
}

function forget(): void {
  willForget = false
  objects = new Map()
  older = objects
}

/** The object of an entry in its stored version, without a resourceVersion. */
export const cachedParsed = (entry: Entry, parse: ParseStored): ParsedEntry =>
  objects.get(entry) ?? older.get(entry) ?? cacheParsed(entry, parse(entry.cut.bytes))
