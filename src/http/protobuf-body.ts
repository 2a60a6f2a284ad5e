/** A body in protobuf: the envelope names its kind, the kind's type reads it. */
import { ApiError, badRequest } from '#api/status-error.ts'
import { decodeEnvelope } from '#codec/protobuf.ts'
import type { Kind } from '#kinds/kind.ts'

export function decodeProtobufBody(kind: Kind, bytes: Buffer): unknown {
  return decodeEnvelope(kind.type, bytes)
}
export { ApiError, badRequest }
