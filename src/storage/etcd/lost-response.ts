/**
 * The outcome of a write whose response was lost, from the history of its key.
 *
 * An update of revision 7 whose response was lost:
 *
 *   history after 7               outcome
 *   9: the bytes of this write    done, at revision 9
 *   9: other bytes                another writer was first: the condition failed
 *   none                          not done
 */
import type { Change, Outcome, Stored } from '#storage/storage.ts'
import type { EtcdWrite } from './messages.ts'

/**
 * `history`: every change of the key since the write was sent; `current`: the key now. Undefined:
 * it was not done.
 */
export function foundOutcome(
  { value, ifRevision }: Pick<EtcdWrite, 'value' | 'ifRevision'>,
  history: readonly Change[],
  current: Stored | undefined,
): Outcome | undefined {
  // A key that must not exist may have been made and deleted by others before. An update can only
  // be the first change.
  const candidates = ifRevision === 0 ? history : history.slice(0, 1)
  const own = candidates.find(({ bytes }) => isSame(bytes, value))
  if (own) return { ok: true, revision: own.revision }
  if (ifRevision === 0 && current === undefined) return undefined
  return { ok: false, current }
}

const isSame = (a: Buffer | undefined, b: Buffer | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.equals(b)
