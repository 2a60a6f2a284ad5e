/** What the original's JSON decoder says of metadata that is none, wherever an object stands inside another. */
import type { Json } from '#api/object-meta.ts'
import { embeddedMeta } from '#schema/structural/metadata-type.ts'
import { readGoJson } from './decode.ts'
import { encodeGoMap } from './encode.ts'

/** Undefined where the original reads it as metadata. */
export function metadataProblem(metadata: Json): string | undefined {
  const read = readGoJson(Buffer.from(encodeGoMap(metadata)), embeddedMeta)
  return 'fault' in read ? read.fault : undefined
}
