/** The result of a verb, independent of the representation; http/respond.ts encodes it. */
import type { Json, Loose } from '#api/object-meta.ts'
import type { CutObject } from '#codec/cut-object.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Revision } from '#storage/storage.ts'
import type { Entry } from '#watchcache/entry.ts'

/** A stored object with the revision to insert; undefined if nothing was stored (dry run). */
export interface ObjectView {
  readonly cut: CutObject
  readonly namespace: string
  readonly name: string
  /** The version of the bytes. */
  readonly apiVersion: string
  /** A dry run returns the resourceVersion of the request, which may be any text. */
  readonly revision: Revision | string | undefined
  /** The requested subresource, if the path of the object includes it. */
  readonly subresource?: string
}

export type Answer =
  | { is: 'object'; status: number; kind: Kind; view: ObjectView }
  | {
      is: 'list'
      kind: Kind
      entries: Entry[]
      revision: Revision
      continueToken: string
      remaining: number | undefined
      /**
       * Identifies the items: lists with equal names have equal items. Undefined if the items may
       * not recur.
       */
      itemsName?: string
    }
  /** A value of another kind than the resource's: Status, Scale, TokenReview. */
  | { is: 'value'; status: number; value: Loose & { kind: string; apiVersion: string } }
  | { is: 'json'; status: number; value: Json }

export function answerObject(status: number, kind: Kind, view: ObjectView): Answer {
  return { is: 'object', status, kind, view }
}
