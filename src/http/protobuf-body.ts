/** A body in protobuf: the envelope names its kind, that kind's type reads it. */
import { versionOf } from '#api/api-version.ts'
import { type ApiError, badRequest, notAcceptable } from '#api/status-error.ts'
import { WireError } from '#base/wire.ts'
import { decodeMessage, EnvelopeError, openEnvelope, type TypeHeader } from '#codec/protobuf.ts'
import { apiVersionFault } from '#codec/type-header.ts'
import type { Type } from '#schema/type.ts'
import { unrecognized } from './unrecognized.ts'

/** What a path takes, and how it and whatever else may be sent there is read. */
export interface TakenType extends TypeHeader {
  /**
   * Undefined where nothing is known by that name: such a body is refused by what it says it is.
   */
  readonly typeNamed: (apiVersion: string, kind: string) => Type | undefined
  /**
   * The error for kinds that have no protobuf, whatever is in their messages; undefined for those
   * that have.
   */
  readonly refuseKind?: (apiVersion: string, kind: string) => ApiError | undefined
  /** The error for unreadable bytes; by default that they should have been of this type. */
  readonly refuse?: (why: string) => ApiError
}

/** Objects of custom kinds: kube-apiserver does not know their type at that point. */
export const refuseCustomObject = (wanted: string) => (apiVersion: string, kind: string) =>
  badRequest(
    `${kind} in version "${versionOf(apiVersion)}" cannot be handled as a ${wanted}: Object 'Kind' is missing in 'object has no kind field '`,
  )

/**
 * Options of the deletion of a collection of custom objects: those of another version are taken for
 * such an object.
 */
export const refuseForeignOptions = (own: string) => (apiVersion: string, kind: string) =>
  apiVersion === own && kind === 'DeleteOptions'
    ? undefined
    : notAcceptable(
        'object *unstructured.Unstructured does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message',
      )

const saysVersion = (apiVersion: string) =>
  !/(^|\/)$/.test(apiVersion) && apiVersionFault(apiVersion) === undefined

export function decodeProtobufBody(taken: TakenType, bytes: Buffer): unknown {
  try {
    const envelope = openEnvelope(bytes)
    // What the envelope does not say, the path does.
    const apiVersion = saysVersion(envelope.apiVersion) ? envelope.apiVersion : taken.apiVersion
    const kind = envelope.kind || taken.kind
    const refusal = taken.refuseKind?.(apiVersion, kind)
    if (refusal !== undefined) throw refusal
    const type = taken.typeNamed(apiVersion, kind)
    if (type === undefined) return { kind, apiVersion }
    return { ...decodeMessage(type, envelope.raw), kind, apiVersion }
  } catch (error) {
    const isFault = error instanceof EnvelopeError || error instanceof WireError
    if (isFault && taken.refuse !== undefined) throw taken.refuse(error.message)
    if (error instanceof EnvelopeError) throw unrecognized(taken.kind, error.message, bytes)
    if (error instanceof WireError) {
      throw badRequest(
        `${taken.kind} in version "${versionOf(taken.apiVersion)}" cannot be handled as a ${taken.kind}: ${error.message}`,
      )
    }
    throw error
  }
}
