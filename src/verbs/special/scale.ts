/** How many replicas there are to be, of any kind that has them: a small view of the object that reads and writes them. */
import { type FieldError, invalid } from '#api/field-error.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose, ManagedFieldsEntry } from '#api/object-meta.ts'
import { ApiError, conflict, invalidObject, notFound } from '#api/status-error.ts'
import { checkMetadata } from '#kinds/behaviour/metadata.ts'
import type { Kind, Subresource } from '#kinds/kind.ts'
import { applyConflict } from '#patch/apply/conflict.ts'
import { applyConfiguration, recordUpdate } from '#patch/apply/field-manager.ts'
import { ownersFromScale, ownersOfScale, type ReplicasPaths } from '#patch/apply/scale.ts'
import type { Answer } from '#verbs/answer.ts'
import { configurationOf } from '#verbs/apply.ts'
import { convertOne, currentObject } from '#verbs/current.ts'
import { conformAs, requireMatchingName } from '#verbs/decode.ts'
import { dedupOwnerReferences } from '#verbs/owner-references.ts'
import { setManaged } from '#verbs/ownership.ts'
import { patchedAs } from '#verbs/patch.ts'
import {
  nameOf,
  type Server,
  type Target,
  timestamp,
  type WriteRequest,
  type PatchRequest,
} from '#verbs/server.ts'
import { raceTriesMax, writeOver } from '#verbs/write-over.ts'
import { bodyManager } from './body-owners.ts'
import { replicasOf } from './replicas.ts'

/** The first release in which replicas set through a Scale have an owner. */
const claimsSince = 22

type Make = (scale: KubeObject) => KubeObject

/** The name by which a Scale is missed; each kind of the original has its own. */
function notFoundAs({ group, plural, scale }: Kind): { group: string; plural: string } {
  if (scale !== undefined || plural === 'statefulsets') return { group, plural }
  const isController = plural === 'replicationcontrollers'
  // Whichever group they are served in, they are kept by one.
  const keptBy = isController ? group || 'autoscaling' : 'apps'
  return { group: keptBy, plural: `${plural}/scale` }
}

/** The first release in which a write misses the object and not its Scale. */
const missesObjectSince = 19

export async function getScale(server: Server, target: Target): Promise<Answer> {
  const live = await currentObject(server, target)
  if (live === undefined) throw notFound(notFoundAs(target.kind), target.name)
  replicasOf(target.kind).requireThere(live.object)
  return answer(scaleOf(target.kind, live.object))
}

export async function updateScale(server: Server, request: WriteRequest): Promise<Answer> {
  const { apiVersion, kind } = subresourceOf(request.target)
  const body = conformAs(server, apiVersion, kind, request)
  requireMatchingName(body, request)
  dedupOwnerReferences(body, request.warnings, false)
  return writeScale(server, request, () => structuredClone(body), body.metadata.uid)
}

export async function patchScale(server: Server, request: PatchRequest): Promise<Answer> {
  if (request.patchType === 'apply') return applyScale(server, request)
  const { apiVersion, kind } = subresourceOf(request.target)
  return writeScale(server, request, (scale) => {
    const next = patchedAs(server, apiVersion, kind, request, scale)
    requireMatchingName(next, request)
    return next
  })
}

async function applyScale(server: Server, request: PatchRequest): Promise<Answer> {
  const config = configurationOf(request.patchBytes)
  if (replicasOf(request.target.kind).ownRules) throw unowned(subresourceOf(request.target))
  const owner = bodyManager(server, subresourceOf(request.target))
  const { fieldManager: manager, force } = request.options
  return writeScale(server, request, (scale) => {
    const subresource = server.release < claimsSince ? '' : 'scale'
    const who = { manager, force, subresource, now: timestamp(server.clock) }
    const outcome = applyConfiguration(owner, scale, config, who)
    if ('conflicts' in outcome) throw applyConflict(outcome.conflicts)
    return outcome.object
  })
}

/** Where replicas are not at the usual place, nobody can own them through a Scale. */
const unowned = ({ apiVersion, kind }: Subresource): ApiError =>
  new ApiError(
    500,
    '',
    `failed to create typed patch object: no corresponding type for ${apiVersion}, Kind=${kind}`,
  )

const answer = (scale: KubeObject): Answer => {
  delete scale.metadata.managedFields
  return { is: 'value', status: 200, value: scale as never }
}

const subresourceOf = ({ kind }: Target): Subresource =>
  kind.subresources.get('scale') as Subresource

/** What a Scale shows of an object. */
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

/** The betas show the selector as labels, and as text beside it where it is more than labels. */
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
  const sub = subresourceOf(target)
  let asked: KubeObject | undefined
  const found = await writeOver(server, request, {
    creates: false,
    ...(server.release < missesObjectSince && { missedAs: notFoundAs(target.kind) }),
    unconditional: true,
    uid,
    ...('patchType' in request && { retries: raceTriesMax }),
    admittedAs: {
      asked: () => asked,
      show: (object) => scaleOf(target.kind, object),
      take: (object, scale) => void replaceReplicas(target.kind, object, scale),
    },
    async make(live) {
      const object = live as KubeObject
      const scale = scaleOf(target.kind, object)
      if (server.release >= claimsSince) {
        setManaged(scale, ownersOfScale(object.metadata.managedFields, replicasPaths(target.kind)))
      }
      const places = replicasOf(target.kind)
      const shown = structuredClone(scale)
      const unsaid = places.unsaid(object)
      if (unsaid !== undefined) shown.spec.replicas = unsaid
      const next = make(shown)
      dedupOwnerReferences(next, request.warnings, true)
      places.requireSaid(next)
      const errors = places.ownRules ? [] : scaleErrors(next)
      if (errors.length > 0) {
        throw invalidObject({ group: groupOf(sub.apiVersion), kind: 'Scale' }, nameOf(next), errors)
      }
      if (!places.ownRules) requireUid(target, next, object)
      asked = { ...next, metadata: { ...next.metadata } }
      setManaged(asked, claim(server, request, object, scale, next))
      return replaceReplicas(target.kind, object, next)
    },
  })
  if (found.is !== 'object') throw new ApiError(500, 'InternalError', 'a scale changed no object')
  const parsed = server.parseStored(found.view.cut.bytes)
  const stored = target.kind.resource.kindOf(found.view.apiVersion) ?? target.kind
  const object = await convertOne(parsed, stored, target.kind.resource.hub)
  object.metadata.resourceVersion = String(found.view.revision)
  return answer(scaleOf(target.kind, object))
}

const groupOf = (apiVersion: string) => (apiVersion.includes('/') ? apiVersion.split('/')[0] : '')

function scaleErrors(scale: KubeObject): FieldError[] {
  const errors = checkMetadata(scale, true, nameIsDnsSubdomain)
  const replicas = scale.spec?.replicas ?? 0
  if (replicas < 0)
    errors.push(invalid('spec.replicas', replicas, 'must be greater than or equal to 0'))
  return errors
}

/** The uid a Scale names is a condition, as its version is. */
function requireUid({ kind, name }: Target, { metadata }: KubeObject, object: KubeObject): void {
  const { uid } = object.metadata
  if (!metadata.uid || metadata.uid === uid) return
  throw conflict(
    { group: kind.group, plural: `${kind.plural}/scale` },
    name,
    `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${uid}`,
  )
}

/** Lays the owners of the replicas into the object, and answers them as its Scale shows them. */
function claim(
  server: Server,
  request: WriteRequest,
  object: KubeObject,
  before: KubeObject,
  next: KubeObject,
): ManagedFieldsEntry[] {
  if (server.release < claimsSince) return []
  const { kind } = request.target
  const who = {
    manager: request.options.fieldManager,
    subresource: 'scale',
    now: timestamp(server.clock),
  }
  const isApply = 'patchType' in request && request.patchType === 'apply'
  const recorded = () =>
    isApply
      ? (next.metadata.managedFields ?? [])
      : recordUpdate(bodyManager(server, subresourceOf(request.target)), before, next, who)
  const owners = replicasOf(kind).ownRules ? [] : recorded()
  const paths = replicasPaths(kind)
  setManaged(object, ownersFromScale(object.metadata.managedFields, owners, paths, kind.apiVersion))
  return owners
}

/** The main object with the replicas, and the preconditions, of its scale. */
function replaceReplicas(kind: Kind, object: KubeObject, scale: KubeObject): KubeObject {
  const { resourceVersion, uid } = scale.metadata
  replicasOf(kind).set(object, scale.spec?.replicas ?? 0)
  object.metadata.resourceVersion = resourceVersion ?? ''
  if (uid) object.metadata.uid = uid
  return object
}
