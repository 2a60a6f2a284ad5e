/** The scale subresource: a view of the replica count of any kind that has one. */
import { schemeLine } from '#api/release-words.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { groupOf } from '#api/api-version.ts'
import { type FieldError, invalid } from '#api/field-error.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose, ManagedFieldsEntry } from '#api/object-meta.ts'
import {
  ApiError,
  badRequest,
  conflict,
  invalidObject,
  notFound,
  preconditionFailed,
} from '#api/status-error.ts'
import type { Awaitable } from '#base/awaitable.ts'
import { copyData } from '#base/copy-data.ts'
import { checkMetadata } from '#kinds/all-kinds/metadata.ts'
import { hubOf, type Kind, type Subresource } from '#kinds/kind.ts'
import { applyConflict } from '#patch/apply/conflict.ts'
import { applyConfiguration, recordUpdate, typedConfig } from '#patch/apply/field-manager.ts'
import { ownersFromScale, ownersOfScale, type ReplicasPaths } from '#patch/apply/scale.ts'
import type { Answer } from '#verbs/answer.ts'
import { configurationOf } from '#verbs/apply.ts'
import { convertOne, currentObject } from '#verbs/current.ts'
import {
  conformAs,
  fromHub,
  requireMatchingName,
  settleNamespace,
  settlesFirst,
  toHub,
} from '#verbs/decode.ts'
import { dedupOwnerReferences } from '#verbs/owner-references.ts'
import { setManaged } from '#verbs/ownership.ts'
import { patchedAs } from '#verbs/patch.ts'
import { freshnessOfGet, reach } from '#verbs/read-at.ts'
import {
  type Server,
  type Target,
  timestamp,
  type WriteRequest,
  type PatchRequest,
} from '#verbs/server.ts'
import { raceTriesMax, writeOver } from '#verbs/write-over.ts'
import { bodyManager } from './body-owners.ts'
import { recordsOwners, replicasOf } from './replicas.ts'

const replicasHaveOwners = change('replicas that are set by a scale have an owner', { since: 22 })

type Make = (scale: KubeObject) => KubeObject

/** The resource in a 404 message for a Scale; kube-apiserver uses different ones for each kind. */
function notFoundAs({ group, plural, scale }: Kind): { group: string; plural: string } {
  if (scale !== undefined || plural === 'statefulsets') return { group, plural }
  const isController = plural === 'replicationcontrollers'
  // kube-apiserver stores these kinds in one group, whichever group serves them.
  const keptBy = isController ? group || 'autoscaling' : 'apps'
  return { group: keptBy, plural: `${plural}/scale` }
}

/** All Scale types. kube-apiserver decodes each of them before it detects the wrong one. */
const scales = new Set(['apps/v1beta1', 'apps/v1beta2', 'autoscaling/v1', 'extensions/v1beta1'])

function requireThisScale(wanted: string, body: Loose | null): void {
  const stated: unknown = body?.apiVersion
  if (body?.kind !== 'Scale' || typeof stated !== 'string' || !scales.has(stated)) return
  if (stated === wanted) return
  throw badRequest(
    `the API version in the data (${stated}) does not match the expected API version (${wanted})`,
  )
}

const checksUid = change('a scale with another uid is rejected', { since: 19 })
const namesScaledObject = change('a missing object of a scale is reported under its own name', {
  since: 19,
})

const namesReadObject = change('a missing object of a scale that is read is reported itself', {
  since: 33,
})

export async function getScale(
  server: Server,
  target: Target,
  resourceVersion = '',
): Promise<Answer> {
  // The newest state satisfies any resourceVersion that the store has reached.
  await reach(server, freshnessOfGet(resourceVersion))
  const live = await currentObject(server, target)
  if (live === undefined) {
    const isNamed = releaseOf(server.release).has(namesReadObject)
    throw notFound(isNamed ? target.kind : notFoundAs(target.kind), target.name)
  }
  const seen = await seenAs(target.kind, live.object)
  replicasOf(target.kind).requireThere(seen)
  return answer(scaleOf(target.kind, seen))
}

/** A custom object in the requested version, in which the field of the replicas may be unknown. */
const seenAs = (kind: Kind, object: KubeObject): Awaitable<KubeObject> =>
  kind.scale === undefined ? object : fromHub(kind, object)

export async function updateScale(server: Server, request: WriteRequest): Promise<Answer> {
  const { apiVersion, kind } = subresourceOf(request.target)
  const body = readScale(server.release, request.target.kind, () => {
    requireThisScale(apiVersion, request.body() as Loose | null)
    return conformAs(server, apiVersion, kind, request)
  })
  requireMatchingName(body, request, server.release)
  const { kind: scaled, namespace } = request.target
  if (releaseOf(server.release).has(settlesFirst)) settleNamespace(scaled, body, namespace)
  dedupOwnerReferences(server, body, request.warnings, false)
  if (!releaseOf(server.release).has(checksUid) && request.target.kind.origin === 'built-in')
    delete body.metadata.uid
  return writeScale(server, request, () => structuredClone(body), body.metadata.uid)
}

/** kube-apiserver reports this error for a Scale of a custom kind that it cannot decode. */
function readScale(release: number, kind: Kind, read: () => KubeObject): KubeObject {
  try {
    return read()
  } catch (error) {
    if (kind.origin === 'built-in' || !(error instanceof ApiError) || error.code !== 400)
      throw error
    throw badRequest(
      `no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:${schemeLine(releaseOf(release))}"`,
    )
  }
}

export async function patchScale(server: Server, request: PatchRequest): Promise<Answer> {
  if (request.patchType === 'apply') return applyScale(server, request)
  const { apiVersion, kind } = subresourceOf(request.target)
  return writeScale(server, request, (scale) => {
    const next = patchedAs(server, apiVersion, kind, request, scale)
    requireMatchingName(next, request, server.release)
    return next
  })
}

async function applyScale(server: Server, request: PatchRequest): Promise<Answer> {
  const sub = subresourceOf(request.target)
  const { ownRules } = replicasOf(request.target.kind)
  const owner = bodyManager(server, sub)
  const { fieldManager: manager, force } = request.options
  return writeScale(server, request, (scale) => {
    const config = configurationOf(request.patchBytes, server.release)
    const subresource = releaseOf(server.release).has(replicasHaveOwners) ? 'scale' : ''
    const who = { manager, force, subresource, now: timestamp(server.clock) }
    if (ownRules) {
      requireOwners(sub, scale)
      // The type of a custom kind's Scale is unknown to the field manager, so this throws.
      typedConfig({ ...owner, typeFor: () => undefined }, config)
    }
    const outcome = applyConfiguration(owner, scale, config, who)
    if ('conflicts' in outcome) throw applyConflict(outcome.conflicts)
    return outcome.object
  })
}

/** Rejects a Scale without managedFields before its configuration is checked. */
function requireOwners({ apiVersion }: Subresource, { metadata }: KubeObject): void {
  if ((metadata.managedFields ?? []).length > 0) return
  const why = `failed to convert live object to proper version: request to convert CR to an invalid group/version: ${apiVersion}`
  throw new ApiError(500, '', `failed to create manager for existing fields: ${why}`)
}

const answer = (scale: KubeObject): Answer => {
  delete scale.metadata.managedFields
  return { is: 'value', status: 200, value: scale as never }
}

const subresourceOf = ({ kind }: Target): Subresource =>
  kind.subresources.get('scale') as Subresource

/** Makes the Scale of an object. */
function scaleOf(main: Kind, object: KubeObject): KubeObject {
  const { apiVersion, kind } = main.subresources.get('scale') as Subresource
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const places = replicasOf(main)
  const replicas = places.wanted(object) ?? 0
  const selected = places.selector(object)
  return {
    kind,
    apiVersion,
    metadata: {
      name,
      ...(namespace && { namespace }),
      uid,
      resourceVersion,
      creationTimestamp,
    },
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: places.present(object),
      ...selectorFields(apiVersion, object, selected),
    },
  }
}

/** Beta versions have the selector as labels, and also as text if it has expressions. */
function selectorFields(apiVersion: string, object: KubeObject, text: string): Loose {
  if (apiVersion.startsWith('autoscaling/')) return text === '' ? {} : { selector: text }
  const { matchLabels, matchExpressions } = object.spec?.selector ?? {}
  return {
    ...(matchLabels && !matchExpressions?.length && { selector: matchLabels }),
    ...(text !== '' && { targetSelector: text }),
  }
}

function replicasPaths(kind: Kind): ReplicasPaths {
  return new Map(
    kind.resource.kinds.map((one) => [
      one.apiVersion,
      (one.scale?.specReplicas ?? ['spec', 'replicas']).map((name) => `f:${name}`),
    ]),
  )
}

async function writeScale(
  server: Server,
  request: WriteRequest,
  make: Make,
  uid?: string,
): Promise<Answer> {
  const { target } = request
  const { kind } = target
  const views = new ScaleViews(kind, (scale, before) => requireScale(target, scale, before))
  const found = await writeOver(server, request, {
    creates: false,
    ...(!releaseOf(server.release).has(namesScaledObject) && { missedAs: notFoundAs(kind) }),
    unconditional: true,
    uid,
    ...('patchType' in request && { retries: raceTriesMax }),
    admittedAs: views,
    async make(live) {
      const object = await seenAs(kind, live as KubeObject)
      const scale = scaleOf(kind, object)
      if (releaseOf(server.release).has(replicasHaveOwners)) {
        setManaged(scale, ownersOfScale(object.metadata.managedFields, replicasPaths(kind)))
      }
      const shown = structuredClone(scale)
      const unsaid = replicasOf(kind).unsaid(object)
      if (unsaid !== undefined) shown.spec.replicas = unsaid
      const found = { ...shown, spec: { ...shown.spec } }
      const next = make(shown)
      dedupOwnerReferences(server, next, request.warnings, true)
      const requested = { ...next, metadata: { ...next.metadata } }
      setManaged(requested, claim(server, request, object, scale, next))
      const made = replaceReplicas(kind, object, next)
      return views.make(found, requested, kind.scale === undefined ? made : await toHub(kind, made))
    },
  })
  if (found.is !== 'object') throw new ApiError(500, 'InternalError', 'a scale changed no object')
  const parsed = server.parseStored(found.view.cut.bytes)
  const stored = kind.resource.kindOf(found.view.apiVersion) ?? kind
  const object = await convertOne(parsed, stored, hubOf(kind))
  object.metadata.resourceVersion = String(found.view.revision)
  return answer(scaleOf(kind, await seenAs(kind, object)))
}

/** The views of a Scale that plugins and webhooks get. */
class ScaleViews {
  readonly #kind: Kind
  /** Validates the Scale after mutating admission. */
  readonly #require: (scale: KubeObject, before: KubeObject) => void
  #found: KubeObject | undefined
  #requested: KubeObject | undefined

  constructor(kind: Kind, require: (scale: KubeObject, before: KubeObject) => void) {
    this.#kind = kind
    this.#require = require
  }

  /** `next` is the object with its new replica count. */
  make(found: KubeObject, requested: KubeObject, next: KubeObject): KubeObject {
    this.#found = found
    this.#requested = requested
    return next
  }

  requested(): KubeObject | undefined {
    return this.#requested
  }

  found(): KubeObject | undefined {
    return this.#found
  }

  async show(object: KubeObject): Promise<KubeObject> {
    const kind = this.#kind
    return scaleOf(kind, kind.scale === undefined ? object : await fromHub(kind, copyData(object)))
  }

  take(object: KubeObject, scale: KubeObject): void {
    this.#require(scale, this.#found as KubeObject)
    replaceReplicas(this.#kind, object, scale)
  }
}

function requireScale(target: Target, scale: KubeObject, before: KubeObject): void {
  const places = replicasOf(target.kind)
  places.requireReplicas(scale)
  if (places.ownRules) return
  const errors = scaleErrors(scale)
  if (errors.length > 0) {
    const group = groupOf(subresourceOf(target).apiVersion)
    throw invalidObject({ group, kind: 'Scale' }, target.name, errors)
  }
  requireUid(target, scale, before)
}

function scaleErrors(scale: KubeObject): FieldError[] {
  const errors = checkMetadata(scale, true, nameIsDnsSubdomain)
  const replicas = scale.spec?.replicas ?? 0
  if (replicas < 0)
    errors.push(invalid('spec.replicas', replicas, 'must be greater than or equal to 0'))
  return errors
}

/** A uid in the Scale is a precondition, like its resourceVersion. */
function requireUid({ kind, name }: Target, { metadata }: KubeObject, before: KubeObject): void {
  const { uid } = before.metadata
  if (!metadata.uid || metadata.uid === uid) return
  throw conflict(
    { group: kind.group, plural: `${kind.plural}/scale` },
    name,
    preconditionFailed('UID', metadata.uid, uid),
  )
}

/** Sets the managedFields of the object's replicas, and returns those of the Scale. */
function claim(
  server: Server,
  request: WriteRequest,
  object: KubeObject,
  before: KubeObject,
  next: KubeObject,
): ManagedFieldsEntry[] {
  const isApply = 'patchType' in request && request.patchType === 'apply'
  // An apply returns managedFields even if they are not stored.
  if (!releaseOf(server.release).has(replicasHaveOwners))
    return isApply ? (next.metadata.managedFields ?? []) : []
  const { kind } = request.target
  const who = {
    manager: request.options.fieldManager,
    subresource: 'scale',
    now: timestamp(server.clock),
  }
  const recorded = () =>
    isApply
      ? (next.metadata.managedFields ?? [])
      : recordUpdate(bodyManager(server, subresourceOf(request.target)), before, next, who)
  const owners = recordsOwners(replicasOf(kind), server.release) ? recorded() : []
  const paths = replicasPaths(kind)
  setManaged(object, ownersFromScale(object.metadata.managedFields, owners, paths, kind.apiVersion))
  return owners
}

function replicasSet(kind: Kind, object: KubeObject, scale: KubeObject): KubeObject {
  replicasOf(kind).set(object, scale.spec?.replicas ?? 0)
  return object
}

/** Copies the replica count and the preconditions from the Scale to the object. */
function replaceReplicas(kind: Kind, object: KubeObject, scale: KubeObject): KubeObject {
  const { resourceVersion, uid } = scale.metadata
  replicasSet(kind, object, scale)
  object.metadata.resourceVersion = resourceVersion ?? ''
  if (uid && !replicasOf(kind).ownRules) object.metadata.uid = uid
  return object
}
