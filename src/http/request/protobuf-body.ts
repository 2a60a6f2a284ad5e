/** Decodes a protobuf body: the envelope names the kind, whose type decodes the message. */
import { versionOf } from '#api/api-version.ts'
import { type ApiError, badRequest, notAcceptable } from '#api/status-error.ts'
import { WireError } from '#base/wire.ts'
import { decodeMessage, EnvelopeError, openEnvelope, type TypeHeader } from '#codec/protobuf.ts'
import { apiVersionFault } from '#codec/type-header.ts'
import type { Type } from '#schema/type.ts'
import { unrecognized } from './unrecognized.ts'

/** The type that a path accepts, and how other types are decoded or rejected. */
export interface AcceptedType extends TypeHeader {
  /**
   * The type of a kind; undefined if it is unknown, and then only kind and apiVersion are decoded.
   */
  readonly typeNamed: (apiVersion: string, kind: string) => Type | undefined
  /** The error for kinds without a protobuf form; undefined for other kinds. */
  readonly refuseKind?: (apiVersion: string, kind: string) => ApiError | undefined
  /** The error for an invalid body; by default it names the path's type. */
  readonly refuse?: (why: string) => ApiError
}

/** The error for objects of custom kinds, whose type kube-apiserver does not know at this point. */
export const refuseCustomObject = (wanted: string) => (apiVersion: string, kind: string) =>
  badRequest(
    `${kind} in version "${versionOf(apiVersion)}" cannot be handled as a ${wanted}: Object 'Kind' is missing in 'object has no kind field '`,
  )

/**
 * The error for options of deletecollection for custom kinds: kube-apiserver decodes another
 * version as a custom object.
 */
export const refuseForeignOptions = (own: string) => (apiVersion: string, kind: string) =>
  apiVersion === own && kind === 'DeleteOptions'
    ? undefined
    : notAcceptable(
        'object *unstructured.Unstructured does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message',
      )

const saysVersion = (apiVersion: string) =>
  !/(^|\/)$/.test(apiVersion) && apiVersionFault(apiVersion) === undefined

export function decodeProtobufBody(accepted: AcceptedType, bytes: Buffer): unknown {
  try {
    const envelope = openEnvelope(bytes)
    // The path provides what the envelope lacks.
    const apiVersion = saysVersion(envelope.apiVersion) ? envelope.apiVersion : accepted.apiVersion
    const kind = envelope.kind || accepted.kind
    const refusal = accepted.refuseKind?.(apiVersion, kind)
    if (refusal !== undefined) throw refusal
    const type = accepted.typeNamed(apiVersion, kind)
    if (type === undefined) return { kind, apiVersion }
    return { ...decodeMessage(type, envelope.raw), kind, apiVersion }
  } catch (error) {
    const isFault = error instanceof EnvelopeError || error instanceof WireError
    if (isFault && accepted.refuse !== undefined) throw accepted.refuse(error.message)
    if (error instanceof EnvelopeError) throw unrecognized(accepted.kind, error.message, bytes)
    if (error instanceof WireError) {
      throw badRequest(
        `${accepted.kind} in version "${versionOf(accepted.apiVersion)}" cannot be handled as a ${accepted.kind}: ${error.message}`,
      )
    }
    throw error
  }
}
