/**
 * Decodes the body of a write by its media type. An invalid body is 400, an unsupported type 415.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { Json } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import { decodeWritten, JsonError } from '#codec/json.ts'
import {
  bodyFormat,
  type Format,
  type PatchFormat,
  patchFormat,
  type PatchRefusal,
} from '#codec/media-type.ts'
import { apiVersionFault, type BodyHeader, bodyHeader } from '#codec/type-header.ts'
import { decodeYaml, repeatedKeys } from '#codec/yaml.ts'
import { YamlError } from '#codec/yaml-error.ts'
import type { Kind } from '#kinds/kind.ts'
import type { PatchRequest, Server } from '#verbs/server.ts'
import type { Exchange } from '#http/exchange.ts'
import { unrecognized } from './unrecognized.ts'
import { decodeProtobufBody, type AcceptedType } from './protobuf-body.ts'

const loadCbor = loadLater<typeof import('./cbor-body.ts')>(import.meta.url, './cbor-body')

const formatOf = (exchange: Exchange): Format =>
  bodyFormat(contentTypeOf(exchange), exchange.acceptRules)

const contentTypeOf = ({ wire }: Exchange) => String(wire.headers['content-type'] ?? '')

export function requireBodyType(exchange: Exchange): void {
  formatOf(exchange)
}

/** Accepts only the resource's own kind. */
const itsOwn = ({ apiVersion, kind, type }: Kind): AcceptedType => ({
  apiVersion,
  kind,
  typeNamed: (version, name) => (version === apiVersion && name === kind ? type : undefined),
})

/** `accepted`: the types that the path accepts; by default only the resource's own kind. */
export function decodeBody(
  exchange: Exchange,
  kind: Kind,
  bytes: Buffer,
  accepted: AcceptedType = itsOwn(kind),
): unknown {
  const format = formatOf(exchange)
  if (format === 'protobuf') return decodeProtobufBody(accepted, bytes)
  if (format === 'cbor') return loadCbor().decodeCborBody(exchange, kind, accepted, bytes)
  const refused = (why: string) => accepted.refuse?.(why) ?? unrecognized(accepted.kind, why, bytes)
  try {
    const value = format === 'json' ? decodeWritten(bytes) : decodeYaml(bytes)
    const header = bodyHeader(format === 'yaml' ? inKeyOrder(value) : value)
    const fault = apiVersionFault(header.apiVersion)
    if (fault !== undefined) throw refused(fault)
    return kind.decoding === 'typed' ? withHeader(value, header) : value
  } catch (error) {
    if (error instanceof JsonError) {
      throw refused(`couldn't get version/kind; json parse error: ${error.message}`)
    }
    if (error instanceof YamlError) throw refused(error.message)
    throw error
  }
}

const loadEncode = loadLater<typeof import('#codec/go-json/encode.ts')>(
  import.meta.url,
  '#codec/go-json/encode',
)

/** The JSON or YAML text of a body; undefined for other formats. */
export function bodyText(exchange: Exchange, bytes: Buffer): Buffer | undefined {
  const format = formatOf(exchange)
  if (format === 'protobuf' || format === 'cbor') return undefined
  return format === 'json' ? bytes : Buffer.from(loadEncode().encodeGoMap(decodeYaml(bytes)))
}

export const isYaml = (exchange: Exchange): boolean => formatOf(exchange) === 'yaml'

/** A message for each duplicate key of a YAML body. */
export const repeatedYamlKeys = (exchange: Exchange, bytes: Buffer): string[] =>
  isYaml(exchange) ? repeatedKeys(bytes) : []

/**
 * kube-apiserver first converts YAML to JSON with sorted keys, so header errors follow that order.
 */
const inKeyOrder = (value: Json): Json =>
  value === null || typeof value !== 'object' || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Go matches the keys of the header case-insensitively, so copy its values to the exact keys. */
function withHeader(value: Json, { kind, apiVersion }: BodyHeader): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  if (kind !== '' && value.kind !== kind) value.kind = kind
  if (apiVersion !== '' && value.apiVersion !== apiVersion) value.apiVersion = apiVersion
  return value
}

const builtInPatches: readonly PatchFormat[] = [
  'json-patch',
  'merge-patch',
  'strategic-merge-patch',
  'apply-patch',
  'apply-patch-cbor',
]
const verbNames = {
  'json-patch': 'json',
  'merge-patch': 'merge',
  'strategic-merge-patch': 'strategic',
  'apply-patch': 'apply',
  'apply-patch-cbor': 'apply',
} as const

const emptyBodyTypeIsIgnored = change(
  'the content type of a request without a body is not checked',
  {
    since: 16,
    until: 33,
  },
)
export const namesRepresentations = change('a 406 of a built-in path lists what is acceptable', {
  since: 25,
})

/**
 * The router's error for a patch of an unknown type; until 1.33 it depends on the body's length.
 */
function patchRefusal(exchange: Exchange, minor: number): PatchRefusal {
  const release = releaseOf(minor)
  const length = exchange.wire.headers['content-length']
  if (!release.has(emptyBodyTypeIsIgnored) || Number(length ?? 0) > 0) return 'unsupported'
  if (!release.has(namesRepresentations)) return 'not acceptable'
  return length === undefined ? 'unsupported, naming types' : 'not acceptable, naming types'
}

/** The release and its feature gates. They determine the supported patch types. */
export type ReleaseFeatures = Pick<Server, 'feature' | 'release'>

/** The format of a patch. */
function patchFormatOf(
  exchange: Exchange,
  kind: Kind,
  { feature, release }: ReleaseFeatures,
): PatchFormat {
  const applies = feature('ServerSideApply')
  const supported = builtInPatches.filter(
    (format) =>
      (format !== 'strategic-merge-patch' || kind.decoding === 'typed') &&
      (format !== 'apply-patch' || applies) &&
      (format !== 'apply-patch-cbor' || (applies && exchange.acceptRules === 'with CBOR')),
  )
  const refusal = patchRefusal(exchange, release)
  return patchFormat(contentTypeOf(exchange), supported, kind.origin, refusal)
}

export const patchTypeOf = (
  exchange: Exchange,
  kind: Kind,
  server: ReleaseFeatures,
): PatchRequest['patchType'] => verbNames[patchFormatOf(exchange, kind, server)]

/** The text of a patch: the body, or JSON converted from CBOR. */
export const patchBytesOf = (
  exchange: Exchange,
  kind: Kind,
  server: ReleaseFeatures,
  body: Buffer,
): Buffer =>
  patchFormatOf(exchange, kind, server) === 'apply-patch-cbor'
    ? loadCbor().configurationText(body)
    : body
