/**
 * The message of kube-apiserver's JSON decoder for invalid metadata, wherever an object is embedded
 * in another.
 */
import type { Json } from '#api/object-meta.ts'
import { embeddedMeta } from '#schema/structural/metadata-type.ts'
import { readGoJson } from './decode.ts'
import { encodeGoMap } from './encode.ts'

/** Undefined if kube-apiserver accepts it as metadata. */
export function metadataProblem(metadata: Json): string | undefined {
  const read = readGoJson(Buffer.from(encodeGoMap(metadata)), embeddedMeta)
  return 'fault' in read ? read.fault : undefined
}
