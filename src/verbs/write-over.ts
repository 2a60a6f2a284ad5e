/**
 * The shared part of PUT, PATCH and apply. It reads the newest state, makes the next state from it,
 * prepares, validates, admits and stores it conditionally. If another write wins the race, it
 * starts again from the winner's state. A request that names a resourceVersion gets a conflict
 * instead.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject } from '#api/object-meta.ts'
import {
  ApiError,
  badRequest,
  conflict,
  invalidObject,
  modified,
  notFound,
  preconditionFailed,
  preconditionProblem,
} from '#api/status-error.ts'
import { invalid } from '#api/field-error.ts'
import { asGo, goQuote } from '#api/go-syntax.ts'
import { inWordsOf } from '#api/release-words.ts'
import type { Awaitable } from '#base/awaitable.ts'
import { copyData } from '#base/copy-data.ts'
import { loadLater } from '#base/load-later.ts'
import { type Context, type Kind, rulesFor } from '#kinds/kind.ts'
import type { Revision } from '#storage/storage.ts'
import { type Answer, answerObject } from './answer.ts'
import { viewAt, encode, isUnchanged, put, whenTooLarge } from './commit.ts'
import { createDecoded, attributesOf } from './create.ts'
import { currentObject, type Live, liveFromStored } from './current.ts'
import { settleNamespace, settlesFirst } from './decode.ts'
import { removeFinalized } from './remove.ts'
import { dedupOwnerReferences } from './owner-references.ts'
import { keepOwnerTimes } from './owner-times.ts'
import { contextOf, keyOf, type Server, type Target, type WriteRequest } from './server.ts'
import { refuseInvalidUpdate } from './validate.ts'

const loadRights = loadLater<typeof import('./required-rights.ts')>(
  import.meta.url,
  './required-rights',
)

/**
 * Lost races before the client gets a conflict. Each lost race means that another writer succeeded,
 * so many of them are normal under load.
 */
export const raceTriesMax = 100

export const missesBeforeAdmission = change(
  'a write to a missing object is rejected before admission',
  { since: 19 },
)

export interface WritePlan {
  /**
   * Makes the next state, in the hub version and with managedFields, from the newest state. It may
   * modify `live` and keep references to it.
   */
  make(live: KubeObject | undefined): KubeObject | Promise<KubeObject>
  /** Whether the write creates a missing object. */
  readonly creates: boolean
  /**
   * Whether admission runs for a missing object, as for a new object, before the client gets 404.
   */
  readonly admitsMissing?: boolean
  /** The resource in a 404 message, if it differs from the resource of the request. */
  readonly missedAs?: { readonly group: string; readonly plural: string }
  /** Whether a write without a resourceVersion overwrites any state. */
  readonly unconditional: boolean
  /**
   * Whether validation runs before the preconditions of the write. Validation of metadata then
   * rejects a write without a resourceVersion. A different resourceVersion or uid is a conflict
   * only if the object is otherwise valid.
   */
  readonly versionCheckedWithMetadata?: boolean
  /**
   * The uid in the body. It must equal the uid of the existing object; if there is no object, the
   * request gets a conflict.
   */
  readonly uid?: string | undefined
  /** What admission gets instead of the object if the body is a view of it, such as a Scale. */
  readonly admittedAs?: {
    show(object: KubeObject): Promise<KubeObject>
    /** The view that the client sent, and the view of the existing object. */
    requested(): KubeObject | undefined
    found(): KubeObject | undefined
    /** Copies changes that admission made in the view to the object, or rejects them. */
    take(object: KubeObject, view: KubeObject): Awaitable<void>
  }
  /** An error of the write that is reported only after the check of its resourceVersion. */
  readonly problem?: ApiError | undefined
  /**
   * Whether the write changes only ownerReferences. Admission then gets the same object as new and
   * as old object.
   */
  changesOwnersAlone?(): boolean
  /**
   * How often a lost race is retried, even if the next state names a resourceVersion. It suits
   * writes that make the next state again from the winner's state. Without it, only writes without
   * a resourceVersion are retried.
   */
  readonly retries?: number
}

export async function writeOver(
  server: Server,
  request: WriteRequest,
  plan: WritePlan,
): Promise<Answer> {
  const { target } = request
  let live = await currentObject(server, target)
  // The first attempt may be repeated once. Writes to scales and to services are not repeated.
  let again =
    isTriedAgain(server, request) &&
    plan.admittedAs === undefined &&
    target.kind.resource.behaviour.versionCheckedWithMetadata !== true
  let uid = plan.versionCheckedWithMetadata ? undefined : plan.uid
  let isLost = false
  for (let i = 0; ; i++) {
    if (uid) requireUid(request, uid, live?.object.metadata.uid ?? '')
    if (live === undefined) {
      if (!plan.creates) {
        if (plan.admitsMissing) await admitMissing(server, request, plan)
        throw notFound(plan.missedAs ?? target.kind, target.name)
      }
      await request.authorizeCreate?.()
      const made = await plan.make(undefined)
      requireReadableVersion(made.metadata.resourceVersion)
      const answer = await createDecoded(server, request, made, true)
      if (answer !== undefined) return answer
      // Another client created the object meanwhile, so this request now updates it.
      if (i >= raceTriesMax) throw conflict(target.kind, target.name, modified)
      live = await currentObject(server, target)
      continue
    }
    if (isLost) throw conflict(target.kind, target.name, modified)
    const made = await writeOnce(server, request, plan, live).catch((error: unknown) => {
      if (!again || !(error instanceof ApiError)) throw error
    })
    if (made === undefined) {
      again = false
      live = await currentObject(server, target)
      continue
    }
    if ('answer' in made) return made.answer
    isLost = (made.named && plan.retries === undefined) || i >= (plan.retries ?? raceTriesMax)
    // After a lost race the object must have the uid that the first attempt read. A recreated
    // object is a conflict.
    if (isReadAgain(target)) uid ??= live.object.metadata.uid
    live = made.current
  }
}

const triesOnce = change('webhooks see a rejected write once', { since: 19 })

/** The retry is visible only to webhooks, which are called twice. */
const isTriedAgain = ({ release, admission }: Server, { options }: WriteRequest): boolean =>
  !releaseOf(release).has(triesOnce) && !options.dryRun && admission.asksOthers

async function admitMissing(server: Server, request: WriteRequest, plan: WritePlan): Promise<void> {
  const object = await plan.make(undefined)
  await server.admission.mutate(attributesOf(request, object, request.target.name))
  requireReadableVersion(object.metadata.resourceVersion)
}

/** Whether the last attempt reads the old object again, with its managedFields. */
const isReadAgain = ({ kind, subresource }: Target): boolean =>
  subresource === '' && kind.resource.behaviour.versionCheckedWithMetadata === true

/** `current` is the state that won the race; undefined if the object was deleted. */
type Attempt = { answer: Answer } | { current: Live | undefined; named: boolean }

async function writeOnce(
  server: Server,
  request: WriteRequest,
  plan: WritePlan,
  live: Live,
): Promise<Attempt> {
  const { target, warnings } = request
  const { kind, subresource } = target
  const old = live.object
  const next = await plan.make(copyData(old))
  const isOne = plan.changesOwnersAlone?.() === true
  if (releaseOf(server.release).has(settlesFirst)) settleNamespace(kind, next, target.namespace)
  const context = contextOf(server, request)
  const attributes = attributesOf(
    request,
    plan.admittedAs?.requested() ?? next,
    target.name,
    isOne ? next : (plan.admittedAs?.found() ?? old),
  )
  await server.admission.mutate(attributes)
  await plan.admittedAs?.take(next, attributes.object)
  dedupOwnerReferences(server, next, warnings, true)
  const checkedLast = plan.versionCheckedWithMetadata === true
  const readAgain = isReadAgain(target)
  let named = !checkedLast && requireVersion(server, request, plan, next, live)
  // A write that changes only owner references compares the object with itself. So changes by a
  // webhook do not increase the generation.
  const before = isOne && !readAgain ? next : old
  const { allocatesFirst } = kind.resource.behaviour
  // A write to the status subresource allocates nothing.
  const reserve = () =>
    subresource === '' ? server.allocators.reserve(kind, next, old, context) : undefined
  let reservation = allocatesFirst === true ? await reserve() : undefined
  try {
    prepareUpdate(request, next, before, context)
    if (plan.problem !== undefined) throw plan.problem
    const known = await withRights(server, request, next, old, context)
    await refuseInvalidUpdate(kind, subresource, next, old, known, warnings, server.reader)
    keepOwnerTimes(next, old, server.release)
    for (const warning of rulesFor(kind, subresource)?.warningsOnUpdate?.(next, old, context) ?? [])
      warnings.push(warning)
    if (allocatesFirst !== true) reservation = await reserve()
    if (checkedLast) named = requireVersion(server, request, plan, next, live)
    await server.admission.validate({
      ...attributes,
      object: (await plan.admittedAs?.show(next)) ?? next,
      ...(readAgain && { old, showsOldOwners: true }),
      ...(plan.admittedAs && { old: await plan.admittedAs.show(old) }),
    })
    if (isFinalized(kind, next, old) && isTriedAgain(server, request)) {
      await server.admission.mutate(attributes)
      await server.admission.validate({ ...attributes, object: next })
    }
    const outcome = await storeNext(server, request, next, live)
    const isStored = 'answer' in outcome && outcome.isStored
    await (isStored ? reservation?.keep() : reservation?.releaseMemory())
    if (isStored && subresource === 'status') server.statusWritten?.(kind, next, old)
    return 'answer' in outcome ? outcome : { ...outcome, named }
  } catch (error) {
    await reservation?.releaseMemory(error)
    throw error
  }
}

async function withRights(
  { access }: Server,
  request: WriteRequest,
  next: KubeObject,
  old: KubeObject,
  context: Context,
): Promise<Context> {
  const { kind, subresource } = request.target
  const rights = rulesFor(kind, subresource)?.rights?.(next, old, context) ?? []
  if (rights.length === 0) return context
  const { refusedRights } = loadRights()
  return { ...context, refusedRights: await refusedRights(access.authorizer, request, rights) }
}

function requireUid({ target, options }: WriteRequest, wanted: string, found: string): void {
  if (wanted === found) return
  const { kind, namespace, name } = target
  const key = keyOf(kind, namespace, name)
  // In a dry run, kube-apiserver reports the key without the prefix of the store.
  const shown = options.dryRun ? key.replace(/^\/[^/]+/, '') : key
  throw conflict(kind, name, preconditionProblem(shown, preconditionFailed('UID', wanted, found)))
}

/** Returns whether the request names a resourceVersion. */
function requireVersion(
  { release }: Server,
  request: WriteRequest,
  plan: WritePlan,
  next: KubeObject,
  live: Live,
): boolean {
  const { kind, name } = request.target
  requireReadableVersion(next.metadata.resourceVersion)
  const resourceVersion = plainVersion(next.metadata.resourceVersion)
  if (!resourceVersion && plan.versionCheckedWithMetadata) return false
  if (resourceVersion === undefined || resourceVersion === '' || resourceVersion === '0') {
    if (plan.unconditional) {
      next.metadata.resourceVersion = String(live.revision)
      return false
    }
    const shown = asGo('0x0', '0')
    const detail = 'must be specified for an update'
    const errors = [invalid('metadata.resourceVersion', shown, detail)]
    const named = { group: kind.group, kind: kind.plural }
    throw invalidObject(named, name, inWordsOf(errors, release))
  }
  if (resourceVersion !== String(live.revision)) throw conflict(kind, name, modified)
  return true
}

const versionMax = 2n ** 64n - 1n
const versionLengthMax = String(versionMax).length

/** Removes leading zeros: "007" and "7" are the same version. */
const plainVersion = (version: string | undefined): string | undefined =>
  version?.startsWith('0') ? version.replace(/^0+(?=.)/, '') : version

/** kube-apiserver's message with 400 instead of 500, because a retry would not help. */
function requireReadableVersion(version: string | undefined): void {
  if (!version || (Number(version) <= Number.MAX_SAFE_INTEGER && /^[0-9]+$/.test(version))) return
  const isNumber = /^[0-9]+$/.test(version)
  const digits = plainVersion(version) as string
  if (isNumber && digits.length <= versionLengthMax && BigInt(digits) <= versionMax) return
  const why = isNumber ? 'value out of range' : 'invalid syntax'
  throw badRequest(`strconv.ParseUint: parsing ${goQuote(version)}: ${why}`)
}

function prepareUpdate(
  request: WriteRequest,
  next: KubeObject,
  old: KubeObject,
  context: Context,
): void {
  const { kind, namespace, subresource } = request.target
  settleNamespace(kind, next, namespace)
  const before = old.metadata
  if (before.generation === undefined) delete next.metadata.generation
  else next.metadata.generation = before.generation
  rulesFor(kind, subresource)?.prepareForUpdate?.(next, old, context)
  // Read `metadata` only now, because the strategy of a kind may replace it.
  const meta = next.metadata
  delete meta.clusterName
  if ('initializers' in meta) delete meta.initializers
  // Only a dry run returns selfLink; a stored object loses it.
  if (!request.options.dryRun) delete meta.selfLink
  if (meta.uid === undefined || meta.uid === '') meta.uid = before.uid
  meta.creationTimestamp = before.creationTimestamp
  if (before.deletionTimestamp !== undefined) meta.deletionTimestamp = before.deletionTimestamp
  if (before.deletionGracePeriodSeconds !== undefined) {
    meta.deletionGracePeriodSeconds ??= before.deletionGracePeriodSeconds
  }
}

/** `isStored` is false for dry runs, unchanged objects and deletions. */
async function storeNext(
  server: Server,
  request: WriteRequest,
  next: KubeObject,
  live: Live,
): Promise<{ answer: Answer; isStored: boolean } | { current: Live | undefined }> {
  const { kind } = request.target
  if (isFinalized(kind, next, live.object)) {
    const removed = await removeFinalized(server, request, next, live)
    return 'answer' in removed ? { ...removed, isStored: false } : removed
  }
  const encoded = await encode(server, kind, next, whenTooLarge(server, request))
  const answerAt = (revision: Revision) => answerObject(200, kind, viewAt(encoded.view, revision))
  if (isUnchanged(encoded, next, live) || request.options.dryRun)
    return { answer: answerAt(live.revision), isStored: false }
  const outcome = await put(server, kind, encoded, live.revision, request)
  if (outcome.ok) return { answer: answerAt(outcome.revision), isStored: true }
  const { current } = outcome
  return { current: current && (await liveFromStored(server, kind, current)) }
}

/**
 * Whether the update removes the last finalizer of an object that is being deleted and that nothing
 * else holds.
 */
function isFinalized({ resource }: Kind, next: KubeObject, old: KubeObject): boolean {
  if ((next.metadata.finalizers?.length ?? 0) > 0) return false
  if (old.metadata.deletionTimestamp === undefined) return false
  if ((old.metadata.deletionGracePeriodSeconds ?? 0) > 0) return false
  return resource.behaviour.isHeld?.(next) !== true
}
