/**
 * Content negotiation as in kube-apiserver, for responses (Accept) and bodies (Content-Type). First
 * the router compares bare media types, then the endpoint reads clauses and their parameters. Pure
 * functions; the result for each header is cached.
 */
import { ApiError, notAcceptable, unsupportedMediaType } from '#api/status-error.ts'
import { byText } from '#base/by-text.ts'
import {
  type AcceptClause,
  type AcceptRules,
  parseAccept,
  parseContentType,
} from './accept-header.ts'

export type Format = 'json' | 'yaml' | 'protobuf' | 'cbor'

export interface Wanted {
  readonly format: Format
  /** The Content-Type of the response. */
  readonly mediaType: string
  readonly pretty: boolean
  /** Another representation of the object: a kind of group meta.k8s.io in this version. */
  readonly as: Transform | undefined
}

export interface Transform {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly version: 'v1' | 'v1beta1'
}

/**
 * What the endpoint serves. Custom kinds have no protobuf except for metadata. A document, such as
 * discovery, has no other representations. Some subresources have no tables.
 */
export type ResponderKind =
  | 'built-in'
  | 'built-in without tables'
  | 'custom'
  | 'custom without tables'
  | 'document'

const isCustom = (endpoint: ResponderKind): boolean => endpoint.startsWith('custom')
const hasTables = (endpoint: ResponderKind): boolean => !endpoint.endsWith('without tables')

export const mediaTypes: Readonly<Record<Format, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
  cbor: 'application/cbor',
}
/** The gate that lets clients negotiate CBOR: alpha, and off by default. */
export const servesCbor = 'CBORServingAndStorage'
const cborSequence = 'application/cbor-seq'

/** The formats that a server reads and writes. */
interface Served {
  readonly formats: readonly Format[]
  readonly mediaTypes: readonly string[]
  readonly streams: readonly string[]
}
const servedWith = (formats: readonly Format[], streams: readonly string[]): Served => ({
  formats,
  mediaTypes: formats.map((format) => mediaTypes[format]),
  streams,
})
const streamTypes = [mediaTypes.json, mediaTypes.protobuf].map((type) => `${type};stream=watch`)
const withoutCbor = servedWith(['json', 'yaml', 'protobuf'], streamTypes)
const withCbor = servedWith([...withoutCbor.formats, 'cbor'], [...streamTypes, cborSequence])
const servedBy = (rules: AcceptRules): Served => (rules === 'with CBOR' ? withCbor : withoutCbor)

const transforms = new Set(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'])

/** Human-readable formats; only these support tables. */
const isReadable = (format: Format): boolean => format === 'json' || format === 'yaml'

function matches({ type, subtype }: AcceptClause, format: Format): boolean {
  if (type === '*') return subtype === '*'
  const [ourType, ourSubtype] = mediaTypes[format].split('/')
  return type === ourType && (subtype === '*' || subtype === ourSubtype)
}

/**
 * The representation that a clause selects in a format; undefined if the endpoint does not support
 * it.
 */
function accept(clause: AcceptClause, format: Format, endpoint: ResponderKind): Wanted | undefined {
  const { as, g, v, stream, sv, pretty } = clause.parameters
  if (stream !== undefined && stream !== '' && (stream !== 'watch' || format === 'yaml'))
    return undefined
  if (sv !== undefined && sv !== '' && (sv !== 'v1' || endpoint === 'document')) return undefined
  const wanted = { format, mediaType: mediaTypes[format], pretty: pretty === '1' }
  if (as === undefined && g === undefined && v === undefined) {
    if (isCustom(endpoint) && format === 'protobuf') return undefined
    return { ...wanted, as: undefined }
  }
  if (endpoint === 'document' || g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1'))
    return undefined
  if (as === 'Table' && !hasTables(endpoint)) return undefined
  if (!transforms.has(as ?? '') || (as === 'Table' && !isReadable(format))) return undefined
  return { ...wanted, as: { kind: as as Transform['kind'], version: v } }
}

function decide(header: string, endpoint: ResponderKind, rules: AcceptRules): Wanted | null {
  if (header === '') {
    return { format: 'json', mediaType: mediaTypes.json, pretty: false, as: undefined }
  }
  for (const clause of parseAccept(header, rules)) {
    for (const format of servedBy(rules).formats) {
      const wanted = matches(clause, format) ? accept(clause, format, endpoint) : undefined
      if (wanted !== undefined) return wanted
    }
  }
  return null
}

type Decided = Readonly<Record<ResponderKind, (header: string) => Wanted | null>>
const decidedBy = (rules: AcceptRules): Decided => {
  const of = (endpoint: ResponderKind) => byText((header) => decide(header, endpoint, rules))
  return {
    'built-in': of('built-in'),
    'built-in without tables': of('built-in without tables'),
    custom: of('custom'),
    'custom without tables': of('custom without tables'),
    document: of('document'),
  }
}
const decided: Readonly<Record<AcceptRules, Decided>> = {
  present: decidedBy('present'),
  'with CBOR': decidedBy('with CBOR'),
  'before 1.17': decidedBy('before 1.17'),
}

/** The representation of the response. Throws 406. An absent header is ''. */
export function wantedForm(
  header: string,
  endpoint: ResponderKind,
  rules: AcceptRules = 'present',
): Wanted {
  const wanted = decided[rules][endpoint](header)
  if (wanted === null) {
    throw notAcceptable(
      `only the following media types are accepted: ${servedBy(rules).mediaTypes.join(', ')}`,
    )
  }
  return wanted
}

export interface WantedAggregated extends Omit<Wanted, 'as'> {
  /** The version of apidiscovery.k8s.io. */
  readonly version: string
}

/**
 * The format of aggregated discovery. Undefined if the client prefers the unaggregated document or
 * accepts neither. `versions` lists the served versions.
 */
export function wantedAggregated(
  header: string,
  versions: readonly string[],
  rules: AcceptRules = 'present',
): WantedAggregated | undefined {
  for (const clause of parseAccept(header, rules)) {
    for (const format of servedBy(rules).formats) {
      if (!matches(clause, format)) continue
      const { as, g, v, ...others } = clause.parameters
      const isPlain = as === undefined && g === undefined && v === undefined
      const parameters = isPlain ? clause.parameters : others
      const wanted = accept({ ...clause, parameters }, format, 'document')
      if (wanted === undefined) continue
      if (isPlain) return undefined
      if (as !== 'APIGroupDiscoveryList' || g !== 'apidiscovery.k8s.io') continue
      if (v === undefined || !versions.includes(v)) continue
      return { ...wanted, mediaType: `${wanted.mediaType};g=${g};v=${v};as=${as}`, version: v }
    }
  }
  return undefined
}

/** The format of watch events: JSON, protobuf or a CBOR sequence. Throws 406. */
export function wantedStream(
  header: string,
  endpoint: ResponderKind,
  rules: AcceptRules = 'present',
): Wanted {
  const wanted = wantedForm(header, endpoint, rules)
  if (wanted.format === 'yaml') {
    throw notAcceptable(
      `only the following media types are accepted: ${servedBy(rules).streams.join(', ')}`,
    )
  }
  if (wanted.format === 'json') return wanted
  if (wanted.format === 'cbor') return { ...wanted, mediaType: cborSequence }
  return { ...wanted, mediaType: `${wanted.mediaType};stream=watch` }
}

const bareTypes = (header: string) => header.split(',').map((part) => part.split(';')[0].trim())

function routes(header: string, produced: ReadonlySet<string>): boolean {
  return header === '' || bareTypes(header).some((type) => type === '*/*' || produced.has(type))
}

/** The media types that the router serves for a path. */
export type Produces = 'any form' | 'any form or stream' | 'json' | 'log' | 'key set'
interface Routed {
  readonly accepts: (header: string) => boolean
  readonly mediaTypes: readonly string[]
}
function routed(types: readonly string[]): Routed {
  const produced = new Set(types)
  return { accepts: byText((header) => routes(header, produced)), mediaTypes: types }
}
function routedBy({ mediaTypes: all, streams }: Served): Readonly<Record<Produces, Routed>> {
  return {
    'any form': routed(all),
    'any form or stream': routed([...all, ...streams]),
    json: routed([mediaTypes.json]),
    log: routed(['text/plain', ...all]),
    'key set': routed(['application/jwk-set+json']),
  }
}
const routedWithoutCbor = routedBy(withoutCbor)
const routedWithCbor = routedBy(withCbor)

/**
 * The router's check of a built-in path, which precedes all others; custom kinds have no router.
 * `namesTypes`: the error lists the acceptable types. Throws 406.
 */
export function checkRouteAccepts(
  header: string,
  produces: Produces = 'any form',
  namesTypes = false,
  rules: AcceptRules = 'present',
): void {
  const byForm = rules === 'with CBOR' ? routedWithCbor : routedWithoutCbor
  const { accepts, mediaTypes } = byForm[produces]
  if (!accepts(header)) throw routeNotAcceptable(namesTypes ? mediaTypes : undefined)
}

const available = (types: readonly string[]) => `\n\nAvailable representations: ${types.join(', ')}`

const routeNotAcceptable = (types: readonly string[] | undefined) =>
  new ApiError(406, 'NotAcceptable', `406: Not Acceptable${types ? available(types) : ''}`, {})

const formatOf = byText((header): Format | null => {
  const type = header === '' ? mediaTypes.json : parseContentType(header)
  return withCbor.formats.find((format) => mediaTypes[format] === type) ?? null
})

/** The format of a body. Throws 415. An absent header is '' and means JSON. */
export function bodyFormat(header: string, rules: AcceptRules = 'present'): Format {
  const format = formatOf(header)
  const served = servedBy(rules)
  if (format === null || !served.formats.includes(format)) throw unknownFormat(served.mediaTypes)
  return format
}

const unknownFormat = (accepted: readonly string[]) =>
  unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )

export type PatchFormat =
  | 'json-patch'
  | 'merge-patch'
  | 'strategic-merge-patch'
  | 'apply-patch'
  | 'apply-patch-cbor'

const patchTypes: Readonly<Record<PatchFormat, string>> = {
  'json-patch': 'application/json-patch+json',
  'merge-patch': 'application/merge-patch+json',
  'strategic-merge-patch': 'application/strategic-merge-patch+json',
  'apply-patch': 'application/apply-patch+yaml',
  'apply-patch-cbor': 'application/apply-patch+cbor',
}

/** The router's error for an unknown patch type. */
export type PatchRefusal =
  | 'unsupported'
  | 'unsupported, naming types'
  | 'not acceptable'
  | 'not acceptable, naming types'

const unsupported = (more = '') =>
  new ApiError(415, 'UnsupportedMediaType', `415: Unsupported Media Type${more}`, {})

/** At this point no route is left, so the list of available types is empty. */
const patchRefusals: Readonly<Record<PatchRefusal, () => ApiError>> = {
  unsupported: () => unsupported(),
  'unsupported, naming types': () => unsupported(available([])),
  'not acceptable': () => routeNotAcceptable(undefined),
  'not acceptable, naming types': () => routeNotAcceptable([]),
}

/**
 * The patch format of a body. `refusal` selects the router's error for unknown types. Throws 415 or
 * 406.
 */
export function patchFormat(
  header: string,
  supported: readonly PatchFormat[],
  endpoint: 'built-in' | 'custom',
  refusal: PatchRefusal = 'unsupported',
): PatchFormat {
  if (endpoint === 'built-in') {
    const found = supported.find((format) => bareTypes(header).includes(patchTypes[format]))
    if (found === undefined) throw patchRefusals[refusal]()
  }
  const type = header.split(';')[0].trim()
  const format = supported.find((one) => patchTypes[one] === type)
  if (format === undefined) throw unknownFormat(supported.map((one) => patchTypes[one]))
  return format
}

const trueWords = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])

/**
 * Whether the response is indented. `?pretty=` takes precedence; otherwise it depends on the user
 * agent.
 */
export function wantsPretty(pretty: string | null | undefined, userAgent: string): boolean {
  if (pretty !== null && pretty !== undefined && pretty !== '') return trueWords.has(pretty)
  return /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent)
}
