/**
 * Parsed objects that exist anyway: the source of an entry, or the result of a recent parse. They
 * stay until the turn of the event loop ends, so that all watchers of a change in this process
 * share one object. Nothing is kept for longer. They are read-only.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { Revision } from '#storage/storage.ts'
import type { Entry, ParseStored } from './entry.ts'

/** The object of an entry, and what was derived from it for its watchers. */
export interface AtHand {
  readonly object: KubeObject
  shown: Shown | undefined
}

/** An object as it is returned to all watchers of one version. */
export interface Shown {
  readonly as: object
  readonly revision: Revision
  readonly object: KubeObject
}

/**
 * After so many, those before the last so many are released: a long batch of large ones must not be
 * in memory twice.
 */
const objectsMax = 1000

let objects = new Map<Entry, AtHand>()
let older = objects
let willForget = false

export function keepAtHand(entry: Entry, object: KubeObject): AtHand {
  if (objects.size >= objectsMax) {
    older = objects
    objects = new Map()
  }
  const kept: AtHand = { object, shown: undefined }
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

/** The object of an entry in the version it is stored in, without a resourceVersion. */
export const atHand = (entry: Entry, parse: ParseStored): AtHand =>
  objects.get(entry) ?? older.get(entry) ?? keepAtHand(entry, parse(entry.cut.bytes))
