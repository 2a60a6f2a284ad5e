/** A body in protobuf: the envelope names its kind, the kind's type reads it. */
import { decodeMessage, EnvelopeError, openEnvelope } from '#codec/protobuf.ts'
import { WireError } from '#base/wire.ts'
import { badRequest } from '#api/status-error.ts'
import type { Kind } from '#kinds/kind.ts'
import { unrecognized } from './unrecognized.ts'

export function decodeProtobufBody(kind: Kind, bytes: Buffer): unknown {
  try {
    const envelope = openEnvelope(bytes)
    // What the envelope does not say, the path does.
    const apiVersion = envelope.apiVersion || kind.apiVersion
    const named = envelope.kind || kind.kind
    if (named !== kind.kind || apiVersion !== kind.apiVersion) return { kind: named, apiVersion }
    return { ...decodeMessage(kind.type, envelope.raw), kind: named, apiVersion }
  } catch (error) {
    if (error instanceof EnvelopeError) throw unrecognized(kind.kind, error.message, bytes)
    if (error instanceof WireError) {
      throw badRequest(
        `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${error.message}`,
      )
    }
    throw error
  }
}
