/**
 * Parses the options of a write from its query, headers and body. They are validated first, with
 * kube-apiserver's messages.
 */
import { firstText, firstValue } from '#access/authenticate/header-values.ts'
import { type FieldError, forbidden, notSupported, required } from '#api/field-error.ts'
import { flag } from '#api/list-options.ts'
import type { Loose } from '#api/object-meta.ts'
import { validateFieldManager } from '#api/object-meta-rules.ts'
import { FieldPath } from '#api/field-path.ts'
import { inWordsOf } from '#api/release-words.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { ApiError, badRequest, invalidObject } from '#api/status-error.ts'
import { type Awaitable, after } from '#base/awaitable.ts'
import { byText } from '#base/by-text.ts'
import { flatText } from '#base/flat-text.ts'
import { loadLater } from '#base/load-later.ts'
import { isOdd } from '#codec/json.ts'
import type { DeleteRequest } from '#verbs/delete.ts'
import {
  allowsUnsafeDeletion,
  deleteOptionsFrom,
  deleteOptionsFromQuery,
  dryRunErrors,
  refuseUnsafeCollection,
} from '#verbs/delete-options.ts'
import type { Server, Target, WriteOptions, WriteRequest, PatchRequest } from '#verbs/server.ts'
import {
  bodyText,
  decodeBody,
  isYaml,
  patchBytesOf,
  patchTypeOf,
  requireBodyType,
  repeatedYamlKeys,
} from './body.ts'
import type { Exchange, Wire } from '#http/exchange.ts'
import { attributesOf } from '#http/filters/authorize.ts'
import { forbidden as forbiddenAnswer } from '#access/forbidden.ts'
import type { HttpParts } from '#http/parts.ts'
import { refuseCustomObject, refuseForeignOptions, type AcceptedType } from './protobuf-body.ts'

const optionsKinds: Readonly<Record<string, string>> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions',
  deletecollection: 'DeleteOptions',
}

export function writeRequest(
  exchange: Exchange,
  parts: HttpParts,
  target: Target,
  verb: string,
): Awaitable<WriteRequest> {
  // An update validates its options before it decodes its body, a create afterwards.
  if (verb === 'create') requireBodyType(exchange)
  return after(readBody(exchange, parts), (bytes) =>
    requestOf(exchange, parts, target, verb, bytes),
  )
}

function requestOf(
  exchange: Exchange,
  parts: HttpParts,
  target: Target,
  verb: string,
  bytes: Buffer,
): WriteRequest {
  const options = writeOptions(exchange, parts.server, verb, false)
  if (verb !== 'create') requireBodyType(exchange)
  exchange.types = parts.server
  return {
    target,
    user: exchange.user,
    body: () => decodeBody(exchange, target.kind, bytes, bodyTypeOf(target, parts.server)),
    text: () => bodyText(exchange, bytes),
    isYaml: isYaml(exchange),
    repeatedKeys: () => repeatedYamlKeys(exchange, bytes),
    strictFaults: () => exchange.strictFaults,
    options,
    warnings: exchange.warnings,
    auditAnnotations: exchange.auditAnnotations,
    deadlineAt: exchange.deadlineAt,
    authorizeCreate: () => authorizeCreate(exchange, parts),
  }
}

/**
 * The type that a path accepts: usually the resource's own kind, for some subresources another,
 * such as Scale.
 */
export function bodyTypeOf(
  { kind: own, subresource }: Pick<Target, 'kind' | 'subresource'>,
  { typeNamed }: Pick<Server, 'typeNamed'>,
): AcceptedType {
  const { apiVersion, kind } = own.subresources.get(subresource) ?? own
  return {
    apiVersion,
    kind,
    ...(own.origin === 'custom' && kind === own.kind && { refuseKind: refuseCustomObject(kind) }),
    typeNamed: (version, name) =>
      version === own.apiVersion && name === own.kind ? own.type : typeNamed(version, name),
  }
}

/** The type of delete options, which may have any group version. */
const acceptedOptions = (release: number): AcceptedType => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  typeNamed: (_, name) =>
    name === 'DeleteOptions' ? loadOptionsText().optionsTypeIn(release) : undefined,
  refuse: (why) => new ApiError(500, '', why),
})

export const optionsTypeOf = (
  { kind: { origin, apiVersion }, name }: Pick<Target, 'kind' | 'name'>,
  release: number,
): AcceptedType => {
  const accepted = acceptedOptions(release)
  return origin === 'built-in' || name !== ''
    ? accepted
    : { ...accepted, apiVersion, refuseKind: refuseForeignOptions(apiVersion) }
}

export async function patchRequest(
  exchange: Exchange,
  parts: HttpParts,
  target: Target,
): Promise<PatchRequest> {
  const patchType = patchTypeOf(exchange, target.kind, parts.server)
  const bytes = await readBody(exchange, parts)
  const options = writeOptions(exchange, parts.server, 'patch', patchType === 'apply')
  return {
    target,
    user: exchange.user,
    body: () => {
      throw new Error('a patch is read by its type')
    },
    patchType,
    patchBytes: patchBytesOf(exchange, target.kind, parts.server, bytes),
    options,
    warnings: exchange.warnings,
    auditAnnotations: exchange.auditAnnotations,
    deadlineAt: exchange.deadlineAt,
    authorizeCreate: () => authorizeCreate(exchange, parts),
  }
}

const blamesClient = change('options of a deletion that cannot be read are a bad request', {
  since: 35,
})

function optionsOf(
  exchange: Exchange,
  parts: HttpParts,
  target: Target,
  bytes: Buffer,
): DeleteRequest['deleteOptions'] {
  const { release, feature } = parts.server
  if (bytes.length === 0)
    return deleteOptionsFromQuery(exchange.query, release, feature(allowsUnsafeDeletion))
  requireBodyType(exchange)
  try {
    // `null` specifies no options; of the query it keeps only dryRun.
    const raw = (decodeBody(exchange, target.kind, bytes, optionsTypeOf(target, release)) ??
      {}) as Loose
    return writtenDeleteOptions(exchange, parts, target, raw, bytes)
  } catch (error) {
    const isUnread = error instanceof ApiError && error.code === 500 && error.reason === ''
    if (!isUnread || !releaseOf(release).has(blamesClient)) throw error
    throw badRequest(error.message)
  }
}

export async function deleteRequest(
  exchange: Exchange,
  parts: HttpParts,
  target: Target,
): Promise<DeleteRequest> {
  const bytes = await readBody(exchange, parts)
  exchange.types = parts.server
  const deleteOptions = optionsOf(exchange, parts, target, bytes)
  if (deleteOptions.ignoresReadErrors) {
    if (exchange.target.verb === 'deletecollection') refuseUnsafeCollection(deleteOptions)
    await loadUnsafe().authorizeUnsafeDeletion(exchange, parts)
  }
  return {
    target,
    user: exchange.user,
    body: () => undefined,
    options: {
      dryRun: deleteOptions.dryRun,
      fieldManager: '',
      fieldValidation: 'Ignore',
      force: false,
    },
    deleteOptions,
    warnings: exchange.warnings,
    auditAnnotations: exchange.auditAnnotations,
    deadlineAt: exchange.deadlineAt,
  }
}

const loadUnsafe = loadLater<typeof import('./unsafe-deletion.ts')>(
  import.meta.url,
  './unsafe-deletion',
)

const loadOptionsText = loadLater<typeof import('#verbs/delete-options-text.ts')>(
  import.meta.url,
  '#verbs/delete-options-text',
)

const collectionTakesAnyOptions = change(
  'a deletion of a collection accepts options of any group, as that of an object does',
  { since: 25 },
)

/** Options in canonical form need no second check of their text. */
function writtenDeleteOptions(
  exchange: Exchange,
  { server }: HttpParts,
  { kind, name }: Target,
  raw: Loose,
  bytes: Buffer,
): DeleteRequest['deleteOptions'] {
  const isOfGroup = !releaseOf(server.release).has(collectionTakesAnyOptions)
  const isCollection = isOfGroup && name === '' && kind.origin === 'built-in'
  if (isCollection && (raw.kind !== undefined || raw.apiVersion !== undefined)) {
    const text = bodyText(exchange, bytes)
    loadOptionsText().requireCollectionOptions(server, kind.apiVersion, raw, text)
  }
  const dryRunInQuery = exchange.query.getAll('dryRun')
  const allowsUnsafe = server.feature(allowsUnsafeDeletion)
  if (!isOdd(raw)) {
    try {
      return deleteOptionsFrom(raw, server.release, dryRunInQuery, allowsUnsafe)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 400) throw error
    }
  }
  const text = bodyText(exchange, bytes)
  const read = text === undefined ? raw : loadOptionsText().readOptionsText(text, server.release)
  return deleteOptionsFrom(read, server.release, dryRunInQuery, allowsUnsafe)
}

function readBody(exchange: Exchange, parts: HttpParts): Awaitable<Buffer> {
  if (exchange.body !== undefined) return exchange.body
  return after(exchange.wire.readBody(parts.limits.bodyBytesMax), (bytes) => {
    exchange.body = bytes
    return bytes
  })
}

function writeOptions(
  { query, wire }: Exchange,
  { release, feature }: Server,
  verb: string,
  isApply: boolean,
): WriteOptions {
  const unspecified = feature(validatesFields) ? 'Warn' : 'Ignore'
  if (query.size === 0 && !isApply) return plainOptions(wire, unspecified)
  const dryRun = query.getAll('dryRun')
  const requested = query.get('fieldManager') ?? ''
  const force = query.get('force')
  const errors: FieldError[] = []
  if (verb === 'patch') {
    if (isApply && requested === '')
      errors.push(required('fieldManager', 'is required for apply patch'))
    if (!isApply && force !== null) {
      errors.push(forbidden('force', 'may not be specified for non-apply patch'))
    }
  }
  const fieldValidation = query.get('fieldValidation') ?? ''
  errors.push(
    ...validateFieldManager(requested, FieldPath.of('fieldManager')),
    ...dryRunErrors(dryRun),
  )
  if (!fieldValidations.includes(fieldValidation))
    errors.push(notSupported('fieldValidation', fieldValidation, fieldValidations))
  if (errors.length > 0) {
    const problems = inWordsOf(errors, release)
    throw invalidObject({ group: 'meta.k8s.io', kind: optionsKinds[verb] }, '', problems)
  }
  return {
    dryRun: dryRun.some((value) => value !== ''),
    fieldManager: requested === '' ? managerOf(wire) : requested,
    requestedFieldManager: requested,
    fieldValidation: (fieldValidation || unspecified) as WriteOptions['fieldValidation'],
    force: flag(force),
  }
}

/** The options of a write without a query. */
const plainOptions = (
  wire: Wire,
  fieldValidation: WriteOptions['fieldValidation'],
): WriteOptions => ({
  dryRun: false,
  fieldManager: managerOf(wire),
  requestedFieldManager: '',
  fieldValidation,
  force: false,
})

const managerOf = ({ headers }: Wire): string =>
  managerOfAgent(firstValue(headers['user-agent']) ?? '')

/** The first part of the user agent, cut to the bytes that a manager's name may have. */
const managerOfAgent = byText((agent: string): string => {
  const [first] = String(firstText(agent)).split('/')
  let name = ''
  for (const ch of first) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(ch)) continue
    if (Buffer.byteLength(name + ch) > 128) break
    name += ch
  }
  return flatText(name)
})

/** The feature gate with which kube-apiserver warns of unknown fields by default. */
const validatesFields = 'ServerSideFieldValidation'
const fieldValidations = ['', 'Ignore', 'Strict', 'Warn']

/** An update that creates the object needs permission to create. */
async function authorizeCreate(exchange: Exchange, parts: HttpParts): Promise<void> {
  const attributes = attributesOf({ ...exchange.target, verb: 'create' }, exchange.user)
  const { decision, reason } = await parts.authorizer.authorize(attributes)
  if (decision !== 'allow') throw forbiddenAnswer(attributes, reason)
}
