/**
 * The bytes of a JSON list: a header, the items joined by commas, a tail. Items are copied without
 * parsing or encoding. A large list is made in pieces, so that it is never complete in memory.
 */
import { cutLength, type CutObject, writeCut } from '#codec/cut-object.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Entry } from '#watchcache/entry.ts'
import { headerOf, insertedText } from './represent.ts'

/**
 * Bytes per piece: large enough for a cheap write, small enough that many lists fit into memory.
 */
const pieceBytesMax = 1 << 20

export interface ListHead {
  readonly kind: string
  readonly apiVersion: string
  readonly revision: number
  readonly continueToken: string
  readonly remaining: number | undefined
  /** Whether `continue` is present even on the last page, as in lists of custom kinds. */
  readonly alwaysContinues?: boolean
  /** The path of the collection, in releases that return it. */
  readonly selfLink?: string | undefined
}

export function listStart(head: ListHead): string {
  const { kind, apiVersion, revision, continueToken, remaining, selfLink, alwaysContinues } = head
  const metadata: string[] = []
  if (selfLink !== undefined) metadata.push(`"selfLink":${JSON.stringify(selfLink)}`)
  // Lists that are computed on request have no version.
  if (revision > 0) metadata.push(`"resourceVersion":"${revision}"`)
  if (continueToken !== '' || alwaysContinues)
    metadata.push(`"continue":${JSON.stringify(continueToken)}`)
  if (remaining !== undefined) metadata.push(`"remainingItemCount":${remaining}`)
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":{${metadata.join(',')}},"items":[`
}

export const listEnd = Buffer.from(']}\n')

export type CutOf = (entry: Entry) => CutObject | Promise<CutObject>

/** Yields the items, separated by commas, in pieces. Waits for items that need a conversion. */
export async function* itemPieces(
  kind: Kind,
  entries: readonly Entry[],
  cutOf: CutOf,
  bytesMax = pieceBytesMax,
): AsyncGenerator<Buffer> {
  const itemHeader = kind.itemsCarryType ? headerOf(kind) : '{'
  for (let from = 0; from < entries.length; ) {
    const cuts: CutObject[] = []
    const revisions: string[] = []
    let size = 0
    let i = from
    for (; i < entries.length && size < bytesMax; i++) {
      const ready = await cutOf(entries[i])
      const revision = insertedText(kind, entries[i])
      cuts.push(ready)
      revisions.push(revision)
      size += cutLength(ready, itemHeader, revision) + 1
    }
    // The piece is cached for equal requests, so it gets its own memory instead of a slice of
    // Node's pool.
    const piece = Buffer.allocUnsafeSlow(size)
    let at = 0
    for (let n = 0; n < cuts.length; n++) {
      if (from + n > 0) piece[at++] = 0x2c
      at = writeCut(piece, at, cuts[n], itemHeader, revisions[n])
    }
    from = i
    yield piece.subarray(0, at)
  }
}
