/**
 * Parsed objects that exist anyway: what an entry was made from, or what somebody has just parsed of it. They stay until
 * the turn of the event loop is over, so that everybody in this process who is told of a change looks at one object; nothing
 * is kept for longer. They are to be looked at, never to be changed.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { Entry, ParseStored } from './entry.ts'

/** After so many, those before the last so many are let go: a long batch of large ones must not be in memory twice. */
const objectsMax = 1000

let objects = new Map<Entry, KubeObject>()
let older = objects
let willForget = false

export function keepAtHand(entry: Entry, object: KubeObject): void {
  if (objects.size >= objectsMax) {
    older = objects
    objects = new Map()
  }
  objects.set(entry, object)
  if (willForget) return
  willForget = true
  setImmediate(forget)
}

function forget(): void {
  willForget = false
  objects = new Map()
  older = objects
}

/** The object of an entry in the version it is stored in, without a resourceVersion. */
export function objectAtHand(entry: Entry, parse: ParseStored): KubeObject {
  const known = objects.get(entry) ?? older.get(entry)
  if (known !== undefined) return known
  const object = parse(entry.cut.bytes)
  keepAtHand(entry, object)
  return object
}
