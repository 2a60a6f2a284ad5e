/** A body in protobuf: the envelope names its kind, that kind's type reads it. */
import { type ApiError, badRequest } from '#api/status-error.ts'
import { WireError } from '#base/wire.ts'
import { decodeMessage, EnvelopeError, openEnvelope, type TypeHeader } from '#codec/protobuf.ts'
import type { Type } from '#schema/type.ts'
import { unrecognized } from './unrecognized.ts'

/** What a path takes, and how it and whatever else may be sent there is read. */
export interface TakenType extends TypeHeader {
  /** Undefined where nothing is known by that name: such a body is refused by what it says it is. */
  readonly typeNamed: (apiVersion: string, kind: string) => Type | undefined
  /** What is said of bytes that cannot be read; without it that they should have been of this type. */
  readonly refuse?: (why: string) => ApiError
}

export function decodeProtobufBody(taken: TakenType, bytes: Buffer): unknown {
  try {
    const envelope = openEnvelope(bytes)
    // What the envelope does not say, the path does.
    const apiVersion = envelope.apiVersion || taken.apiVersion
    const kind = envelope.kind || taken.kind
    const type = taken.typeNamed(apiVersion, kind)
    if (type === undefined) return { kind, apiVersion }
    return { ...decodeMessage(type, envelope.raw), kind, apiVersion }
  } catch (error) {
    const isFault = error instanceof EnvelopeError || error instanceof WireError
    if (isFault && taken.refuse !== undefined) throw taken.refuse(error.message)
    if (error instanceof EnvelopeError) throw unrecognized(taken.kind, error.message, bytes)
    if (error instanceof WireError) {
      const version = taken.apiVersion.split('/').pop()
      throw badRequest(
        `${taken.kind} in version "${version}" cannot be handled as a ${taken.kind}: ${error.message}`,
      )
    }
    throw error
  }
}
