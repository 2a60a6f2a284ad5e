/**
 * DELETE. An object with finalizers or a grace period is marked with a deletionTimestamp. It is
 * removed when it has no finalizers and its grace period is over. Other objects are removed at
 * once.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject } from '#api/object-meta.ts'
import {
  conflict,
  modified,
  notFound,
  preconditionFailed,
  preconditionProblem,
} from '#api/status-error.ts'
import { copyData } from '#base/copy-data.ts'
import {
  answersDeletedObject,
  answersStatusWhenHeld,
  unspecifiedPropagationWarnings,
} from '#kinds/deletion.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Revision } from '#storage/storage.ts'
import { type Answer, answerObject } from './answer.ts'
import { viewAt, encode, put } from './commit.ts'
import { currentObject, type Live, liveFromStored } from './current.ts'
import type { DeleteOptions } from './delete-options.ts'
import { markDeleting, markGrace, setGarbageFinalizers } from './deletion-marks.ts'
import { contextOf, keyOf, nameOf, type Server, timestamp, type WriteRequest } from './server.ts'
import { raceTriesMax } from './write-over.ts'

export interface DeleteRequest extends WriteRequest {
  readonly deleteOptions: DeleteOptions
  /** The request is part of a deletecollection: admission is called without a name. */
  readonly ofCollection?: true
}

export async function remove(server: Server, request: DeleteRequest): Promise<Answer> {
  const { kind, name } = request.target
  warnOfPropagation(server, request)
  let live = await currentObject(server, request.target)
  for (let i = 0; i < raceTriesMax; i++) {
    if (live === undefined) throw notFound(kind, name)
    const done = await removeOnce(server, request, live)
    if ('answer' in done) return done.answer
    live = done.current
  }
  throw conflict(kind, name, modified)
}

/**
 * Without a propagation policy, a deletion may leave dependents behind that the client expects to
 * be deleted.
 */
export function warnOfPropagation(server: Server, request: DeleteRequest): void {
  const { target, deleteOptions, warnings } = request
  const { propagationPolicy, orphanDependents } = deleteOptions
  if (propagationPolicy !== undefined || orphanDependents !== undefined) return
  warnings.push(...unspecifiedPropagationWarnings(target.kind, releaseOf(server.release)))
}

type Attempt = { answer: Answer } | { current: Live | undefined }

async function removeOnce(server: Server, request: DeleteRequest, live: Live): Promise<Attempt> {
  const { kind } = request.target
  const options = request.deleteOptions
  const context = contextOf(server, request)
  requirePreconditions(kind, live.object, options)
  const next = copyData(live.object)
  const grace = markGrace(kind, next, options, context)
  // An object that is already being deleted needs no admission.
  if (grace === 'pending')
    return { answer: await answerRemoved(server, kind, live, statusWhenHeld(options)) }
  // In deletecollection each object has its own options, which plugins do not see.
  const isApart = request.ofCollection === true && releaseOf(server.release).has(optionsPerObject)
  const keepsOptions = grace === 'none' || isApart
  const admitted = keepsOptions ? request : withGraceOf(request, next)
  await admitDeletion(server, admitted, live.object)
  const changed = !server.leavesGarbage && setGarbageFinalizers(kind, next, options)
  const held = (next.metadata.finalizers?.length ?? 0) > 0
  if (grace === 'none' && !held) {
    return changed ? letGo(server, request, live, next) : removeNow(server, request, live)
  }
  if (grace === 'none') markDeleting(next, timestamp(server.clock))
  const overAtOnce = !held && next.metadata.deletionGracePeriodSeconds === 0
  return storeMarked(server, admitted, live, next, overAtOnce)
}

/** A foreground deletion is not complete when the response is sent, so it returns 202. */
const statusWhenHeld = ({ orphanDependents }: DeleteOptions): number =>
  orphanDependents === false ? 202 : 200

const optionsPerObject = change(
  'each object of a deleted collection has deletion options of its own',
  { since: 22 },
)

/** Removes an object whose last finalizer these options remove. */
async function letGo(
  server: Server,
  request: DeleteRequest,
  live: Live,
  next: KubeObject,
): Promise<Attempt> {
  const { target, deleteOptions } = request
  if (deleteOptions.dryRun)
    return { answer: await answerChanged(server, target.kind, next, live.revision) }
  // kube-apiserver compares the resourceVersion with that of an unwritten object, which is empty.
  if (releaseOf(server.release).has(followsVersion)) requireVersion(request, live, '')
  // Admission is called for the removal of the finalizer (twice in old releases) and once for the
  // deletion.
  if (!releaseOf(server.release).has(admitsReleaseOnce))
    await admitDeletion(server, request, live.object)
  await admitDeletion(server, request, live.object)
  return removeNow(server, request, live)
}

const admitsReleaseOnce = change('admission plugins see the removal of a finalized object once', {
  since: 19,
})

/** Stores the object with its deletionTimestamp; removes it if its grace period is already over. */
async function storeMarked(
  server: Server,
  request: DeleteRequest,
  live: Live,
  next: KubeObject,
  overAtOnce: boolean,
): Promise<Attempt> {
  const { target, deleteOptions: options } = request
  const { kind } = target
  const encoded = await encode(server, kind, next)
  const unchanged = encoded.view.cut.bytes.equals(live.bytes)
  const answerHeld = (revision: Revision) => {
    if (answersStatusWhenHeld(kind, releaseOf(server.release)))
      return deletedStatus(kind, live.object)
    return answerObject(statusWhenHeld(options), kind, viewAt(encoded.view, revision))
  }
  if (unchanged || options.dryRun) return { answer: answerHeld(live.revision) }
  const outcome = await put(server, kind, encoded, live.revision, request)
  if (!outcome.ok) {
    if (outcome.current === undefined) return { current: undefined }
    return { current: await liveFromStored(server, kind, outcome.current) }
  }
  if (overAtOnce) {
    const marked = { ...live, object: next, revision: outcome.revision }
    if (!releaseOf(server.release).has(followsVersion)) requireVersion(request, marked)
    // The removal is a separate step after the mark, so admission is called for it too.
    next.metadata.resourceVersion = String(outcome.revision)
    await admitDeletion(server, request, next)
    const removed = await removeNow(server, request, marked)
    if ('answer' in removed || removed.current !== undefined) return removed
    // Another writer saw the mark and removed the object first: the deletion succeeded, and its
    // last resourceVersion is unknown.
    return { answer: await answerRemoved(server, kind, { ...marked, revision: undefined }) }
  }
  await server.allocators.release(kind, live.object, true)
  return { answer: answerHeld(outcome.revision) }
}

const followsVersion = change(
  'a deletion with a resourceVersion removes an object that it has marked itself',
  { since: 18 },
)

/** The object must still have the resourceVersion of the preconditions when it is removed. */
function requireVersion(
  { target: { kind, namespace }, deleteOptions: { resourceVersion } }: DeleteRequest,
  { object, revision }: Live,
  wanted = resourceVersion,
): void {
  if (resourceVersion === undefined || wanted === String(revision)) return
  const key = keyOf(kind, namespace, nameOf(object))
  const why = preconditionFailed('ResourceVersion', wanted ?? '', String(revision))
  throw conflict(kind, nameOf(object), preconditionProblem(key, why))
}

function requirePreconditions(kind: Kind, object: KubeObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = object.metadata
  const named = { group: kind.resource.errorGroup, plural: kind.resource.hub.kind }
  if (options.uid !== undefined && options.uid !== uid) {
    throw conflict(
      named,
      nameOf(object),
      `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    )
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    throw conflict(
      named,
      nameOf(object),
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    )
  }
}

export async function admitDeletion(
  server: Server,
  request: DeleteRequest,
  old: KubeObject,
): Promise<void> {
  const { target, user, options, warnings, auditAnnotations } = request
  const attributes = {
    operation: 'DELETE' as const,
    kind: target.kind,
    subresource: target.subresource,
    namespace: target.namespace,
    name: request.ofCollection ? '' : nameOf(old),
    object: undefined,
    old,
    user,
    dryRun: options.dryRun,
    options: { ...request.deleteOptions },
    warnings,
    auditAnnotations,
    deadlineAt: request.deadlineAt,
  }
  await server.admission.mutate(attributes)
  await server.admission.validate(attributes)
}

/** After the mark, the object is deleted by its uid, and plugins see that. */
export const onlyThis = (request: DeleteRequest, { metadata }: KubeObject): DeleteRequest => ({
  ...request,
  deleteOptions: { ...request.deleteOptions, uid: request.deleteOptions.uid ?? metadata.uid },
})

/** Plugins see the effective grace period. */
const withGraceOf = (request: DeleteRequest, { metadata }: KubeObject): DeleteRequest => ({
  ...request,
  deleteOptions: {
    ...request.deleteOptions,
    gracePeriodSeconds: metadata.deletionGracePeriodSeconds,
  },
})

async function removeNow(server: Server, request: DeleteRequest, live: Live): Promise<Attempt> {
  const { kind, namespace } = request.target
  if (!request.deleteOptions.dryRun) {
    const key = keyOf(kind, namespace, nameOf(live.object))
    const outcome = await server.storage.delete(key, {
      ifRevision: live.revision,
      deadlineAt: request.deadlineAt,
    })
    if (!outcome.ok) {
      if (outcome.current === undefined) return { current: undefined }
      return { current: await liveFromStored(server, kind, outcome.current) }
    }
    await server.allocators.release(kind, live.object)
  }
  return { answer: await answerRemoved(server, kind, live) }
}

async function answerChanged(
  server: Server,
  kind: Kind,
  object: KubeObject,
  revision: Revision | undefined,
  status = 200,
): Promise<Answer> {
  const encoded = await encode(server, kind, object)
  return answerObject(status, kind, viewAt(encoded.view, revision))
}

async function answerRemoved(
  server: Server,
  kind: Kind,
  live: { object: KubeObject; revision: Revision | undefined },
  status?: number,
): Promise<Answer> {
  if (!answersDeletedObject(kind, releaseOf(server.release)))
    return deletedStatus(kind, live.object)
  return answerChanged(server, kind, live.object, live.revision, status)
}

function deletedStatus(kind: Kind, object: KubeObject): Answer {
  return {
    is: 'value',
    status: 200,
    value: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: {
        name: nameOf(object),
        ...(kind.group !== '' && { group: kind.group }),
        kind: kind.plural,
        uid: object.metadata.uid,
      },
    },
  }
}
