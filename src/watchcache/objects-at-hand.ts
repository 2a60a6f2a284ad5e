/**
 * Parsed objects that exist anyway: what an entry was made from, or what somebody has just parsed of it. They stay until
 * those who look at the end of the turn of the event loop have looked, so that everybody in this process who is told of a
 * change looks at one object; nothing is kept for longer. They are to be looked at, never to be changed.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { tellAtTurnEnd } from '#base/turn-end.ts'
import type { Revision } from '#storage/storage.ts'
import type { Entry, ParseStored } from './entry.ts'

/** The object of an entry, and what was made of it for those who are told of it. */
export interface AtHand {
  readonly object: KubeObject
  shown: Shown | undefined
}

/** An object as it is shown to all who speak the same version of it. */
export interface Shown {
  readonly as: object
  readonly revision: Revision
  readonly object: KubeObject
}

/** After so many, those before the last so many are let go: a long batch of large ones must not be in memory twice. */
const objectsMax = 1000

let objects = new Map<Entry, AtHand>()
let older = objects
let willLook = false

export function keepAtHand(entry: Entry, object: KubeObject): AtHand {
  if (objects.size >= objectsMax) beginAnew()
  const kept: AtHand = { object, shown: undefined }
  objects.set(entry, kept)
  if (!willLook) {
    willLook = true
    tellAtTurnEnd(endTurn)
  }
  return kept
}

function beginAnew(): void {
  older = objects
  objects = new Map()
}

/** Those who are told now look when this is over; what is kept from now on is for those who look after the next turn. */
function endTurn(): void {
  willLook = false
  beginAnew()
  const looked = older
  setImmediate(() => {
    if (older === looked) older = objects
  })
}

/** The object of an entry in the version it is stored in, without a resourceVersion. */
export const atHand = (entry: Entry, parse: ParseStored): AtHand =>
  objects.get(entry) ?? older.get(entry) ?? keepAtHand(entry, parse(entry.cut.bytes))
