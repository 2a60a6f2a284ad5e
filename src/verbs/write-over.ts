/**
 * What PUT, PATCH and apply share: take the newest state, make the next one from it, prepare,
 * validate, admit, store on
 * condition. A lost race starts over from the state that won, unless the request names the
 * version it was made for.
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
import { type Context, type Kind, rulesFor } from '#kinds/kind.ts'
import type { Revision } from '#storage/storage.ts'
import { type Answer, answerObject } from './answer.ts'
import { at, encode, isUnchanged, put, whenTooLarge } from './commit.ts'
import { createDecoded, attributesOf } from './create.ts'
import { currentObject, type Live, liveFromStored } from './current.ts'
import { settleNamespace, settlesFirst } from './decode.ts'
import { removeFinalized } from './remove.ts'
import { dedupOwnerReferences } from './owner-references.ts'
import { keepOwnerTimes } from './owner-times.ts'
import { contextOf, keyOf, type Server, type Target, type WriteRequest } from './server.ts'
import { refuseInvalidUpdate } from './validate.ts'

/**
 * Races lost before the client gets a conflict: each one means that another writer succeeded, so
 * many are no sign of trouble.
 */
export const raceTriesMax = 100

export const missesBeforeAdmission = change(
  'a write to a missing object is rejected before admission',
  { since: 19 },
)

export interface WritePlan {
  /**
   * The next state, hub version, fields claimed, from the newest one. It may change and keep what
   * it is given.
   */
  make(live: KubeObject | undefined): KubeObject | Promise<KubeObject>
  /** Whether an object that is not there is made. */
  readonly creates: boolean
  /**
   * Whether plugins and webhooks are called for a missing object, as for a new one, before it is
   * reported missing.
   */
  readonly admitsMissing?: boolean
  /** By what name an object that is not there is missed, where not by its own. */
  readonly missedAs?: { readonly group: string; readonly plural: string }
  /** Whether a write that names no version goes over whatever is there. */
  readonly unconditional: boolean
  /**
   * Whether the result is checked before the conditions of the write. A write without a version
   * keeps none, for the checks of metadata to reject; one with another version, or uid, gets a
   * conflict only if nothing else is wrong with it.
   */
  readonly versionCheckedWithMetadata?: boolean
  /** The uid in the body, which must be that of the object that is there, even where none is. */
  readonly uid?: string | undefined
  /**
   * What plugins and webhooks see instead of the object, where the body is a view of it: a scale.
   */
  readonly admittedAs?: {
    show(object: KubeObject): Promise<KubeObject>
    /** The view as requested, and as found, which plugins that change it see. */
    asked(): KubeObject | undefined
    found(): KubeObject | undefined
    /** Puts what they changed of the view into the object, or refuses it. */
    take(object: KubeObject, view: KubeObject): Awaitable<void>
  }
  /** The problem of the write that is reported after its version was checked. */
  readonly problem?: ApiError | undefined
  /**
   * Whether the next state is the one that is there but for its owners: plugins and webhooks then
   * see one object as both.
   */
  changesOwnersAlone?(): boolean
  /**
   * How often a lost race is tried again whatever version the next state names, since it is made
   * anew from the state
   * that won; without it only writes that name none are tried again.
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
  // Scales are changed, and services found, before the try that counts.
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
      // Another client created it meanwhile: this is a change of that.
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
    // What was found before the try that counts is meant, and not what came after it.
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

/** Whether it is found once more, owners and all, for the try that counts. */
const isReadAgain = ({ kind, subresource }: Target): boolean =>
  subresource === '' && kind.resource.behaviour.versionCheckedWithMetadata === true

/** `current`: what won the race; undefined where the object is gone. */
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
    plan.admittedAs?.asked() ?? next,
    target.name,
    isOne ? next : (plan.admittedAs?.found() ?? old),
  )
  await server.admission.mutate(attributes)
  if (plan.admittedAs !== undefined) await plan.admittedAs.take(next, attributes.object)
  dedupOwnerReferences(server, next, warnings, true)
  const checkedLast = plan.versionCheckedWithMetadata === true
  const readAgain = isReadAgain(target)
  let named = !checkedLast && requireVersion(server, request, plan, next, live)
  // What is one with what is there is one with it here too: whatever a webhook made of it is no
  // new generation.
  const before = isOne && !readAgain ? next : old
  const { allocatesFirst } = kind.resource.behaviour
  // A status is stored without a look at what the object was given, or was not.
  const reserve = () =>
    subresource === '' ? server.allocators.reserve(kind, next, old, context) : undefined
  let reservation = allocatesFirst === true ? await reserve() : undefined
  try {
    prepareUpdate(request, next, before, context)
    if (plan.problem !== undefined) throw plan.problem
    await refuseInvalidUpdate(kind, subresource, next, old, context, warnings)
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
    const settled = isStored ? reservation?.keep() : reservation?.giveBack()
    if (settled !== undefined) await settled
    if (isStored && subresource === 'status') server.statusWritten?.(kind, next, old)
    return 'answer' in outcome ? outcome : { ...outcome, named }
  } catch (error) {
    await reservation?.giveBack(error)
    throw error
  }
}

function requireUid({ target, options }: WriteRequest, wanted: string, found: string): void {
  if (wanted === found) return
  const { kind, namespace, name } = target
  const key = keyOf(kind, namespace, name)
  // A dry run does not get as far as to where the prefix of the store is put before the key.
  const shown = options.dryRun ? key.replace(/^\/[^/]+/, '') : key
  throw conflict(kind, name, preconditionProblem(shown, preconditionFailed('UID', wanted, found)))
}

/** Answers whether the request names the version it was made for. */
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

/** A version is a number, whatever noughts it begins with. */
const plainVersion = (version: string | undefined): string | undefined =>
  version?.startsWith('0') ? version.replace(/^0+(?=.)/, '') : version

/** In kube-apiserver's words, but not as a failure of the server: a retry would not help. */
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
  // Looked at only now: rules of a kind may put other metadata in its place.
  const meta = next.metadata
  delete meta.clusterName
  if ('initializers' in meta) delete meta.initializers
  // It goes away on the way to the store.
  if (!request.options.dryRun) delete meta.selfLink
  if (meta.uid === undefined || meta.uid === '') meta.uid = before.uid
  meta.creationTimestamp = before.creationTimestamp
  if (before.deletionTimestamp !== undefined) meta.deletionTimestamp = before.deletionTimestamp
  if (before.deletionGracePeriodSeconds !== undefined) {
    meta.deletionGracePeriodSeconds ??= before.deletionGracePeriodSeconds
  }
}

/** `isStored`: what is as it was is not, and may be another by now, or gone. */
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
  const answerAt = (revision: Revision) => answerObject(200, kind, at(encoded.view, revision))
  if (isUnchanged(encoded, next, live) || request.options.dryRun)
    return { answer: answerAt(live.revision), isStored: false }
  const outcome = await put(server, kind, encoded, live.revision, request)
  if (outcome.ok) return { answer: answerAt(outcome.revision), isStored: true }
  const { current } = outcome
  return { current: current && (await liveFromStored(server, kind, current)) }
}

/** The last finalizer of an object that is being deleted went away, and nothing else holds it. */
function isFinalized({ resource }: Kind, next: KubeObject, old: KubeObject): boolean {
  if ((next.metadata.finalizers?.length ?? 0) > 0) return false
  if (old.metadata.deletionTimestamp === undefined) return false
  if ((old.metadata.deletionGracePeriodSeconds ?? 0) > 0) return false
  return resource.behaviour.isHeld?.(next) !== true
}
