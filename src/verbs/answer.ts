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
  /** The version the bytes are in. */
  readonly apiVersion: string
  /** A dry run returns the resourceVersion of the request, which may be any text. */
  readonly revision: Revision | string | undefined
  /** The requested subresource of the object, where its path is shown. */
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
       * Names the items: lists of equal names have equal items. Absent where they may not come
       * again.
       */
      itemsName?: string
    }
  /** A value of another kind than the resource's: Status, Scale, TokenReview. */
  | { is: 'value'; status: number; value: Loose & { kind: string; apiVersion: string } }
  | { is: 'json'; status: number; value: Json }

export function answerObject(status: number, kind: Kind, view: ObjectView): Answer {
  return { is: 'object', status, kind, view }
}
