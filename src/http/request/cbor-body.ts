/**
 * Decodes CBOR bodies: the document names its kind, whose type decodes the rest. Loaded with the
 * first CBOR body.
 */
import { versionOf } from '#api/api-version.ts'
import type { Loose } from '#api/object-meta.ts'
import { badRequest } from '#api/status-error.ts'
import { type CborDocument, decodeCborMap, openDocument, readDocument } from '#codec/cbor/decode.ts'
import { diagnose } from '#codec/cbor/diagnose.ts'
import { CborError, readItem } from '#codec/cbor/item.ts'
import { encodeGoMap } from '#codec/go-json/encode.ts'
import { apiVersionFault } from '#codec/type-header.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Exchange } from '#http/exchange.ts'
import type { AcceptedType } from './protobuf-body.ts'
import { unrecognized } from './unrecognized.ts'

/** Decodes a body; stores the faults of strict decoding in the exchange. */
export function decodeCborBody(
  exchange: Exchange,
  { decoding, kind: own }: Kind,
  accepted: AcceptedType,
  bytes: Buffer,
): unknown {
  if (decoding === 'free' && accepted.kind === own) return customObject(exchange, accepted, bytes)
  const document = opened(accepted, bytes)
  const kind = document.kind || accepted.kind
  const apiVersion = versionIn(document.apiVersion) || accepted.apiVersion
  try {
    const type = accepted.typeNamed(apiVersion, kind)
    if (type === undefined) return { kind, apiVersion }
    const { value, strictFaults } = readDocument(document, type)
    exchange.strictFaults = strictFaults
    return { ...(value as Loose | null), kind, apiVersion }
  } catch (error) {
    if (!(error instanceof CborError)) throw error
    // Options have their own error messages, without those for objects.
    if (accepted.refuse !== undefined) throw badRequest(error.message)
    throw unhandled(kind, apiVersion, accepted, error)
  }
}

const unhandled = (
  kind: string,
  apiVersion: string,
  accepted: AcceptedType,
  { message }: CborError,
) =>
  badRequest(
    `${kind} in version "${versionOf(apiVersion)}" cannot be handled as a ${accepted.kind}: ${message}`,
  )

/**
 * Decodes an object of a custom kind, which must name its kind. Unknown fields are dropped without
 * a warning.
 */
function customObject(exchange: Exchange, accepted: AcceptedType, bytes: Buffer): unknown {
  exchange.strictFaults = []
  let value: Loose
  try {
    value = (decodeCborMap(bytes) ?? {}) as Loose
  } catch (error) {
    if (!(error instanceof CborError)) throw error
    const { kind, apiVersion } = opened(accepted, bytes)
    throw unhandled(
      kind || accepted.kind,
      versionIn(apiVersion) || accepted.apiVersion,
      accepted,
      error,
    )
  }
  const apiVersion = typeof value.apiVersion === 'string' ? value.apiVersion : ''
  const isReadable = apiVersionFault(apiVersion) === undefined
  const hasKind = typeof value.kind === 'string' && value.kind !== '' && isReadable
  if (hasKind && apiVersion !== '') return value
  const missing = hasKind ? 'apiVersion' : 'Kind'
  const why = `Object '${missing}' is missing in '${diagnose(readItem(bytes))}'`
  throw unrecognized(accepted.kind, why, bytes)
}

/** An invalid apiVersion is treated as absent. */
const versionIn = (apiVersion: string): string =>
  apiVersionFault(apiVersion) === undefined ? apiVersion : ''

function opened(accepted: AcceptedType, bytes: Buffer): CborDocument {
  try {
    return openDocument(bytes)
  } catch (error) {
    if (!(error instanceof CborError)) throw error
    const why = `unable to determine group/version/kind: ${error.message}`
    throw accepted.refuse?.(why) ?? unrecognized(accepted.kind, why, bytes)
  }
}

/** An apply configuration as JSON, which verbs read as YAML. */
export function configurationText(bytes: Buffer): Buffer {
  try {
    return Buffer.from(encodeGoMap(decodeCborMap(bytes)))
  } catch (error) {
    if (error instanceof CborError) throw badRequest(`error decoding patch: ${error.message}`)
    throw error
  }
}
