/**
 * POST: creates an object. If the name exists, the client gets 409; a generated name is retried
 * with another suffix.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import {
  alreadyExists,
  ApiError,
  badRequest,
  generatedNameTaken,
  serverTimeout,
} from '#api/status-error.ts'
import type { Context, Kind } from '#kinds/kind.ts'
import { type Answer, answerObject, type ObjectView } from './answer.ts'
import { viewAt, encode, put, whenTooLarge } from './commit.ts'
import { currentObject, type Live } from './current.ts'
import { decodeBody, settleNamespace, settlesFirst, toHub } from './decode.ts'
import { dedupOwnerReferences } from './owner-references.ts'
import { claimFields } from './ownership.ts'
import { contextOf, nameOf, type Server, type Target, type WriteRequest } from './server.ts'
import { refuseInvalidNew } from './validate.ts'

/** Number of generated names that are tried before the client gets an error. */
const generateNameTriesMax = 8

const wipesMetadata = change('managers do not own what the server sets in new metadata', {
  since: 25,
})

/** Removes the metadata that only the server sets. */
function wipeMetadata({ metadata }: KubeObject): void {
  delete metadata.creationTimestamp
  delete metadata.uid
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
}

export async function create(server: Server, request: WriteRequest): Promise<Answer> {
  const { kind } = request.target
  const object = await toHub(kind, decodeBody(request, server))
  dedupOwnerReferences(server, object, request.warnings, false)
  if (releaseOf(server.release).has(wipesMetadata)) wipeMetadata(object)
  await claimFields(server, request, object, undefined)
  const answer = await createDecoded(server, request, object)
  if (answer === undefined) throw await taken(server, request, object)
  return answer
}

/**
 * Admits, validates and stores an object in the hub version with managedFields. Returns undefined
 * if its name exists. `updates`: the request is an update, which may specify a resourceVersion. An
 * update of the status allocates nothing.
 */
export async function createDecoded(
  server: Server,
  request: WriteRequest,
  object: KubeObject,
  updates = false,
): Promise<Answer | undefined> {
  const { target, options, warnings } = request
  const { kind } = target
  const context = contextOf(server, request)
  settleForAdmission(server, kind, object, target.namespace, updates)
  const attributes = attributesOf(request, object, nameOf(object))
  const admitted = server.admission.mutate(attributes)
  await admitted
  dedupOwnerReferences(server, object, warnings, true)
  const { resourceVersion } = object.metadata
  const generated = nameOf(object) === '' && Boolean(object.metadata.generateName)
  if (generated) object.metadata.name = randomName(server, object.metadata.generateName as string)
  const { behaviour } = kind.resource
  initMetadata(server, kind, object, target.namespace, context)
  const reserve = () =>
    target.subresource === ''
      ? server.allocators.reserve(kind, object, undefined, context)
      : undefined
  let reservation = behaviour.allocatesFirst === true ? await reserve() : undefined
  try {
    behaviour.prepareForCreate?.(object, context)
    await refuseInvalidNew(kind, object, context, server.reader)
    for (const warning of behaviour.warningsOnCreate?.(object, context) ?? [])
      warnings.push(warning)
    if (behaviour.allocatesFirst !== true) reservation = await reserve()
    // If the path has a name, it takes precedence over a name set by a webhook.
    const name = attributes.name || nameOf(object)
    const requested = { ...attributes, name, object }
    const allowed = server.admission.validate(requested)
    await allowed
    if ((admitted ?? allowed) !== undefined) await server.admission.recheck(requested)
    behaviour.readBack?.(object)
    // A stored object gets a new resourceVersion; a dry run returns the one from the request.
    if (isVersion(resourceVersion) && !options.dryRun && !updates) {
      throw badRequest('resourceVersion should not be set on objects to be created')
    }
    const view = await store(server, request, object, generated)
    await (view?.revision === undefined ? reservation?.releaseMemory() : reservation?.keep())
    if (view === undefined) return undefined
    const shown = (options.dryRun && resourceVersion) || view.revision
    return answerObject(201, kind, shown === undefined ? view : { ...view, revision: shown })
  } catch (error) {
    await reservation?.releaseMemory(error)
    throw error
  }
}

/**
 * Whether kube-apiserver parses the text as a nonzero version; it ignores others, such as 0 or 1.5.
 */
function isVersion(text: string | undefined): boolean {
  if (text === undefined) return false
  const digits = /^0*([1-9]\d{0,19})$/.exec(text)?.[1]
  return digits !== undefined && BigInt(digits) < 2n ** 64n
}

/** The attributes that plugins and webhooks get for a new object, or for an update of `old`. */
export function attributesOf(
  request: WriteRequest,
  object: KubeObject,
  name: string,
  old?: KubeObject,
) {
  const { target, user, options, warnings, auditAnnotations } = request
  return {
    operation: old === undefined ? ('CREATE' as const) : ('UPDATE' as const),
    kind: target.kind,
    subresource: target.subresource,
    namespace: target.namespace,
    name,
    isNamed: target.name !== '',
    object,
    old,
    user,
    dryRun: options.dryRun,
    options: { fieldManager: options.requestedFieldManager },
    warnings,
    auditAnnotations,
    deadlineAt: request.deadlineAt,
  }
}

const wipesFirst = change('plugins that change a new object see no fields of the system in it', {
  since: 25,
})

/** Sets the metadata that mutating plugins see. */
function settleForAdmission(
  server: Server,
  kind: Kind,
  object: KubeObject,
  namespace: string,
  updates: boolean,
): void {
  const release = releaseOf(server.release)
  if (release.has(settlesFirst)) settleNamespace(kind, object, namespace)
  if (updates || !release.has(wipesFirst)) return
  const { metadata } = object
  delete metadata.creationTimestamp
  delete metadata.uid
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
}

function initMetadata(
  server: Server,
  kind: Kind,
  object: KubeObject,
  namespace: string,
  context: Context,
): void {
  settleNamespace(kind, object, namespace)
  const { metadata } = object
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
  delete metadata.clusterName
  // The field exists only in 1.15, where no plugin uses it.
  if ('initializers' in metadata) delete metadata.initializers
  metadata.creationTimestamp = context.now
  metadata.uid = server.newUid()
}

const randomName = (server: Server, prefix: string) => prefix.slice(0, 58) + server.randomSuffix()

/** Undefined if the name exists. */
async function store(
  server: Server,
  request: WriteRequest,
  object: KubeObject,
  generated: boolean,
): Promise<ObjectView | undefined> {
  const { kind } = request.target
  const tries = generated ? generateNameTriesMax : 1
  for (let i = 0; i < tries; i++) {
    if (i > 0) object.metadata.name = randomName(server, object.metadata.generateName as string)
    const encoded = await encode(server, kind, object, whenTooLarge(server, request))
    if (request.options.dryRun) {
      const target = { ...request.target, name: nameOf(object) }
      if ((await readable(server, target)) === undefined) return encoded.view
      continue
    }
    const outcome = await put(server, kind, encoded, 0, request)
    if (outcome.ok) return viewAt(encoded.view, outcome.revision)
  }
  return undefined
}

/** If the conversion webhook fails, treat the existing object as absent. */
function readable(server: Server, target: Target): Promise<Live | undefined> {
  const found = currentObject(server, target)
  return target.kind.resource.convertsElsewhere ? found.catch(() => undefined) : found
}

const generatedNamesConflict = change('a generated name that is taken is a conflict', {
  since: 23,
})

async function taken(server: Server, request: WriteRequest, object: KubeObject): Promise<ApiError> {
  const { kind } = request.target
  const { errorGroup, hub } = kind.resource
  const isPrefixed = Boolean(object.metadata.generateName)
  const conflicts = releaseOf(server.release).has(generatedNamesConflict)
  // With generateName the client may retry, even if it also specified a name.
  if (isPrefixed && !conflicts)
    return serverTimeout({ group: errorGroup, plural: hub.kind }, 'POST', 0)
  const error = isPrefixed
    ? generatedNameTaken(kind, nameOf(object))
    : alreadyExists(kind, nameOf(object))
  // An object that cannot be read still exists.
  const there = await readable(server, { ...request.target, name: nameOf(object) }).catch(
    () => undefined,
  )
  if (there?.object.metadata.deletionTimestamp === undefined) return error
  return new ApiError(
    error.code,
    error.reason,
    `object is being deleted: ${error.message}`,
    error.details,
  )
}
