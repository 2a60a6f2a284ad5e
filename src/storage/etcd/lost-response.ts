/**
 * The outcome of a write whose response was lost, from the history of its key. Another client may
 * write the same bytes at the same time, so equal bytes are no proof. The reasons are in
 * docs/decisions/lost-responses.md.
 *
 * An update of revision 7 whose response was lost:
 *
 *   history after 7               outcome
 *   none                          not done; the write may be repeated, as its condition still holds
 *   9: other bytes                another writer was first: the condition failed
 *   9: the bytes of this write    unknown, unless no other write can have these bytes
 *
 * A create may still be on its way, and may be done after a deletion of the key. So it is done or
 * unknown.
 */
import type { Change, Outcome, Stored } from '#storage/storage.ts'
import type { EtcdWrite } from './messages.ts'

export type FoundOutcome = Outcome | 'not done' | 'unknown'

/** `history`: every change of the key since the write was sent; `current`: the key now. */
export function foundOutcome(
  { value, ifRevision, isUnique }: Pick<EtcdWrite, 'value' | 'ifRevision' | 'isUnique'>,
  history: readonly Change[],
  current: Stored | undefined,
): FoundOutcome {
  // A key that must not exist may have been made and deleted by others before. An update can only
  // be the first change.
  const candidates = ifRevision === 0 ? history : history.slice(0, 1)
  const same = candidates.find(({ bytes }) => isSame(bytes, value))
  if (same !== undefined) return isUnique ? { ok: true, revision: same.revision } : 'unknown'
  if (ifRevision === 0) return 'unknown'
  return current?.revision === ifRevision ? 'not done' : { ok: false, current }
}

const isSame = (a: Buffer | undefined, b: Buffer | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.equals(b)
