/** Decodes the body of a write into an object and applies defaults. */
import { change, releaseOf } from '#api/releases/change.ts'
import { groupOf, versionOf } from '#api/api-version.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { invalid } from '#api/field-error.ts'
import { ApiError, badRequest, internalError, invalidObject } from '#api/status-error.ts'
import type { Awaitable } from '#base/awaitable.ts'
import { loadLater } from '#base/load-later.ts'
import { isOdd, isTooLarge } from '#codec/json.ts'
import { hubOf, type Kind } from '#kinds/kind.ts'
import { convertOne } from './current.ts'
import { conform, type ReadAs } from '#schema/conform.ts'
import type { Type } from '#schema/type.ts'
import type { Reading } from './field-validation.ts'
import type { Server, WriteRequest } from './server.ts'
import { requireConvertible } from './unconvertible.ts'

const loadGoJson = loadLater<typeof import('#codec/go-json/decode.ts')>(
  import.meta.url,
  '#codec/go-json/decode',
)

const loadFieldFault = loadLater<typeof import('./field-fault.ts')>(
  import.meta.url,
  './field-fault',
)

const loadFieldValidation = loadLater<typeof import('./field-validation.ts')>(
  import.meta.url,
  './field-validation',
)

const loadOtherType = loadLater<typeof import('./other-type.ts')>(import.meta.url, './other-type')

/** The maximum number of unknown fields in a message. */
const unknownFieldsMax = 100

/** The body as an object of the requested version, with defaults. */
export function decodeBody(request: WriteRequest, server: Server): KubeObject {
  const { kind } = request.target
  const object = conformBody(request, server)
  kind.applyDefaults(object)
  return object
}

/** The body as an object of the requested version. */
export function conformBody(request: WriteRequest, server: Server): KubeObject {
  const { kind } = request.target
  const raw = request.body()
  if (isOtherType(kind, (raw ?? {}) as Loose)) {
    throw loadOtherType().otherType(server, kind, raw as Loose, request)
  }
  return conformRaw(kind, raw, request, server)
}

/**
 * `text` is the JSON from which `raw` was parsed. `lost` lists unknown fields that an earlier step
 * removed.
 */
export function conformRaw(
  kind: Kind,
  raw: unknown,
  request: WriteRequest,
  server: Pick<Server, 'fieldsDropped' | 'release'>,
  text = request.text,
  lost: readonly string[] = [],
): KubeObject {
  const value = (raw ?? {}) as Loose
  if (kind.decoding === 'free') reportOtherVersion(kind, value, request)
  requireType(kind, value, 'patchType' in request, text)
  const { object, unknown } =
    kind.decoding === 'typed'
      ? conformWritten(kind.type, value, writtenAs(kind, text, server), (read) =>
          kind.conform(read),
        )
      : conformFree(kind, value, text, text !== request.text)
  requireConvertible(kind, object)
  const all = [...lost, ...unknown]
  if (all.length > 0 && kind.decoding === 'typed') server.fieldsDropped?.(kind, all)
  if (request.options.fieldValidation === 'Ignore') return object
  if (kind.decoding === 'typed') {
    if (all.length > 0 || mayRepeat(value, request)) reportUnknown({ unknown: all }, request, kind)
    return object
  }
  const free = { type: kind.type, raw: value as Json, kept: object as Json }
  reportUnknown({ unknown: all, free }, request, kind)
  return object
}

/**
 * Unknown fields of a body in another version are reported by that version's schema. If the kind
 * lacks that version, all fields are unknown. The error about the version follows this report.
 */
function reportOtherVersion(kind: Kind, raw: Loose, request: WriteRequest): void {
  const { apiVersion } = raw
  if (request.options.fieldValidation === 'Ignore' || 'patchType' in request) return
  if (typeof apiVersion !== 'string' || apiVersion === kind.apiVersion) return
  if (raw.kind !== kind.kind || groupOf(apiVersion) !== kind.group) return
  const other = kind.resource.kindOf(apiVersion)
  if (other === undefined) {
    const unknown = Object.keys(raw).filter((name) => !headerFields.has(name))
    reportUnknown({ unknown: unknown.sort() }, request, kind)
    return
  }
  const kept = other.conform(raw).object as Json
  reportUnknown({ unknown: [], free: { type: other.type, raw: raw as Json, kept } }, request, kind)
}

const headerFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/** Whether a body may have duplicate fields. Patches and YAML must be checked in their text. */
const mayRepeat = (value: Loose, request: WriteRequest): boolean =>
  isOdd(value) ||
  'patchType' in request ||
  request.isYaml === true ||
  request.strictFaults?.() !== undefined

/** Fields without a type accept any JSON number. */
function conformFree(kind: Kind, value: Loose, text: WriteRequest['text'], patched: boolean) {
  // Patches keep the exact digits of a number only if it is too large.
  const isLooked = isOdd(value) && (patched || isTooLarge(value as Json))
  const bytes = isLooked ? text?.() : undefined
  const read = bytes && loadGoJson().readGoJson(bytes, { is: 'untyped' })
  if (read && 'fault' in read) {
    throw badRequest(
      `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${read.fault}`,
    )
  }
  return kind.conform(value)
}

interface WrittenAs extends ReadAs {
  readonly release: number
  readonly text: WriteRequest['text']
}

const writtenAs = (
  { kind, version }: Kind,
  text: WriteRequest['text'],
  { release }: Pick<Server, 'release'>,
): WrittenAs => ({ kind, version, as: kind, text, release })

/**
 * Most bodies fit their type. Otherwise, or if there are duplicates, the text is decoded again
 * exactly as kube-apiserver does. That may succeed, or it yields the error message.
 */
function conformWritten<Result>(
  type: Type,
  value: Loose,
  { kind, version, as, text, release }: WrittenAs,
  conformIt: (value: Loose) => Result,
): Result {
  if (!isOdd(value)) {
    try {
      return conformIt(value)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
    }
  }
  const bytes = text?.()
  if (bytes === undefined) return conformIt(value)
  const read = loadGoJson().readGoJson(bytes, type)
  if ('value' in read) return conformIt(read.value as Loose)
  const why = loadFieldFault().fieldFault(type, bytes, release) ?? read.fault
  throw badRequest(`${kind} in version "${version}" cannot be handled as a ${as}: ${why}`)
}

/**
 * Whether the body of a typed kind names another kind, or a version that the kind does not have.
 */
function isOtherType(kind: Kind, raw: Loose): boolean {
  if (kind.decoding === 'free' || (raw.kind === kind.kind && raw.apiVersion === kind.apiVersion))
    return false
  const apiVersion = textOf(raw.apiVersion, kind.apiVersion).replace(/^\//, '')
  if (textOf(raw.kind, kind.kind) !== kind.kind) return true
  return apiVersion !== kind.apiVersion && kind.resource.kindOf(apiVersion) === undefined
}

/** The kind and version in a body must match the path. If they are absent, the path's are used. */
function requireType(kind: Kind, raw: Loose, patched: boolean, text: WriteRequest['text']): void {
  if (kind.decoding === 'free') requireTypeNamed(kind, raw, text)
  // "/v1" has an empty group, which is the core group.
  const apiVersion = textOf(raw.apiVersion, kind.apiVersion).replace(/^\//, '')
  const named = textOf(raw.kind, kind.kind)
  if (apiVersion === kind.apiVersion && named === kind.kind) return
  if (kind.decoding === 'free') throw otherFreeType(kind, apiVersion, named, raw, patched)
  throw badRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (${kind.apiVersion})`,
  )
}

/**
 * The error in the type of a PUT body that kube-apiserver reports only after it checked name,
 * preconditions and version.
 */
export function lateTypeProblem(kind: Kind, raw: Loose): ApiError | undefined {
  const { kind: named, apiVersion = '' } = raw
  if (kind.decoding === 'typed' || typeof named !== 'string' || named === '') return undefined
  if (apiVersion === '') return unversioned()
  const isOther = apiVersion === kind.apiVersion && named !== kind.kind
  return isOther ? otherFreeType(kind, apiVersion, named, raw, false) : undefined
}

const unversioned = (): ApiError =>
  internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'")

/** A body without a Go type, such as a custom resource, must name its kind and version. */
function requireTypeNamed(kind: Kind, raw: Loose, text: WriteRequest['text']): void {
  for (const field of ['kind', 'apiVersion'] as const) {
    const value = raw[field] ?? ''
    if (typeof value !== 'string') throw untypedHeader(field, value)
  }
  if (!raw.kind) {
    const bytes = text?.() ?? Buffer.from(JSON.stringify(raw))
    const why = loadGoJson().refusedWhole(
      bytes,
      (value) => `Object 'Kind' is missing in '${value}'`,
    )
    throw badRequest(
      `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${why}`,
    )
  }
  if (raw.apiVersion === null) {
    throw badRequest(
      `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: .apiVersion accessor error: <nil> is of the type <nil>, expected string`,
    )
  }
  if (!raw.apiVersion) throw unversioned()
}

const untypedHeader = (field: string, value: unknown): ApiError => {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  return badRequest(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go struct field .${field} of type string`,
  )
}

/** Bodies without a Go type get these errors only during validation. */
function otherFreeType(
  kind: Kind,
  apiVersion: string,
  named: string,
  raw: Loose,
  patched: boolean,
): ApiError {
  const otherVersion = apiVersion !== kind.apiVersion
  if (otherVersion && !patched) {
    return badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${kind.apiVersion})`,
    )
  }
  const errors = [
    ...(named === kind.kind ? [] : [invalid('kind', named, `must be ${kind.kind}`)]),
    ...(otherVersion ? [invalid('apiVersion', apiVersion, `must be ${kind.apiVersion}`)] : []),
  ]
  const group = groupOf(apiVersion)
  return invalidObject({ group, kind: named }, textOf(raw.metadata?.name, ''), errors)
}

/**
 * Decodes a body whose kind differs from that of the resource, such as the Scale of a Deployment.
 */
export function conformAs(
  server: Server,
  apiVersion: string,
  kind: string,
  request: WriteRequest,
  raw: unknown = request.body(),
  text = request.text,
  lost: readonly string[] = [],
): KubeObject {
  const value = (raw ?? {}) as Loose
  const named = textOf(value.kind, kind)
  const version = versionOf(textOf(value.apiVersion, apiVersion))
  const type = server.typeNamed(apiVersion, kind)
  const namedVersion = textOf(value.apiVersion, apiVersion).replace(/^\//, '')
  if (named !== kind || namedVersion !== apiVersion || type === undefined)
    throw loadOtherType().otherType(server, { apiVersion, kind }, value, request)
  const written = { kind, version, as: kind, text, release: server.release }
  const conformed = conformWritten(type, value, written, (read) =>
    conform(type, read as Json, written),
  )
  reportUnknown({ unknown: [...lost, ...conformed.unknown] }, request, { kind, version })
  const object = conformed.value as unknown as KubeObject
  object.kind = kind
  object.apiVersion = apiVersion
  return object
}

const textOf = (value: unknown, fallback: string) =>
  typeof value === 'string' && value !== '' ? value : fallback

/**
 * Reports unknown and duplicate fields as warnings or as an error, as fieldValidation specifies.
 */
export function reportUnknown(
  reading: Reading,
  request: WriteRequest,
  { kind, version }: { kind: string; version: string },
): void {
  const { fieldValidation } = request.options
  if (fieldValidation === 'Ignore') return
  const reported = loadFieldValidation().reportedFields(request, reading)
  const { lines } = reported
  const fields = reported.fields.slice(0, unknownFieldsMax)
  if (lines.length + fields.length === 0) return
  if (fieldValidation === 'Strict') {
    const ofYaml = lines.length > 0 ? [['yaml: unmarshal errors:', ...lines].join('\n  ')] : []
    const why = `strict decoding error: ${[...ofYaml, ...fields].join(', ')}`
    throw badRequest(
      'patchType' in request
        ? why
        : `${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`,
    )
  }
  request.warnings.push(...lines, ...fields)
}

export function toHub(kind: Kind, object: KubeObject): Awaitable<KubeObject> {
  return kind === hubOf(kind) ? object : convertOne(object, kind, kind.resource.hub)
}

export function fromHub(kind: Kind, object: KubeObject): Awaitable<KubeObject> {
  return kind === hubOf(kind) ? object : convertOne(object, kind.resource.hub, kind)
}

const looksAtNamespaceFirst = change('the namespace of a body is compared before its name', {
  since: 24,
})

/** Compares the name and namespace of a body with those of the path. */
export function requireMatchingName(
  object: KubeObject,
  request: WriteRequest,
  release: number,
): void {
  const { name, namespace } = request.target
  const meta = object.metadata
  const isElsewhere = Boolean(meta.namespace) && namespace !== '' && meta.namespace !== namespace
  if (isElsewhere && releaseOf(release).has(looksAtNamespaceFirst)) throw otherNamespace()
  if (meta.name === undefined || meta.name === '') {
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    )
  }
  if (meta.name !== name) {
    throw badRequest(
      `the name of the object (${meta.name}) does not match the name on the URL (${name})`,
    )
  }
  if (isElsewhere) {
    throw badRequest(
      `the namespace of the object (${meta.namespace}) does not match the namespace on the request (${namespace})`,
    )
  }
}

export const settlesFirst = change('plugins that change an object see its namespace', { since: 24 })

/** A namespaced object gets the namespace of its path; a cluster-scoped object has none. */
export function settleNamespace(kind: Kind, object: KubeObject, namespace: string): void {
  const { metadata } = object
  if (!kind.namespaced) {
    delete metadata.namespace
    return
  }
  if (metadata.namespace === undefined || metadata.namespace === '') metadata.namespace = namespace
  else if (metadata.namespace !== namespace) throw otherNamespace()
}

const otherNamespace = () =>
  badRequest(
    'the namespace of the provided object does not match the namespace sent on the request',
  )
