/**
 * Calls mutating webhooks in sequence; each receives the object that the previous one returned. A
 * webhook with reinvocationPolicy IfNeeded is called again if the object changed after its call.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { AdmissionPlugin, AdmissionRequest } from '#admission/admission.ts'
import type { Json, KubeObject, Loose, ManagedFieldsEntry } from '#api/object-meta.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import { internalError } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import { parseJson, storedDepthMax } from '#codec/json.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { applyJsonPatch } from '#patch/json-patch.ts'
import { askHook, CallFailed, type DispatchParts, judge } from './dispatch.ts'
import { meetsConditions } from './conditions-once-set.ts'
import type { Hook } from './hook.ts'
import { HookSource } from './hook-source.ts'
import { inSelectedNamespace, invocationOf, isExempt } from './invocation.ts'
import type { ReviewResult } from './review.ts'
import { copyIntoRequest, settled, Versioned } from './versioned.ts'

/** State that the first round passes to the reinvocation round. */
interface Rounds {
  /** The object after the last webhook, to detect later changes by other plugins. */
  output: KubeObject | undefined
  /** managedFields before the first webhook call. */
  readonly owners: ManagedFieldsEntry[] | undefined
  readonly called: Set<string>
  readonly again: Set<string>
}

const annotatesMutations = change('the audit log records what mutating webhooks changed', {
  since: 16,
})
const recordsIgnoredMutators = change(
  'the audit log records failed mutating webhooks that are ignored',
  { since: 22 },
)
const restoresOwners = change('managed fields that a webhook breaks are restored', { since: 21 })

const loadOwners = loadLater<typeof import('./kept-owners.ts')>(import.meta.url, './kept-owners')

export function mutatingWebhooks(
  parts: DispatchParts,
  source = new HookSource('mutatingwebhookconfigurations'),
): AdmissionPlugin {
  const rounds = new WeakMap<AdmissionRequest, Rounds>()
  return {
    name: 'MutatingAdmissionWebhook',
    start: (reader) => source.follow(reader),
    mutate(request, reader) {
      const { hooks } = source
      if (hooks.length === 0 || isExempt(request, parts.skipsReviews)) return
      let state = rounds.get(request)
      if (state === undefined) {
        if (!hooks.some((hook) => invocationOf(hook, request) !== undefined)) return
        const owners = request.object?.metadata?.managedFields
        state = { output: undefined, owners, called: new Set(), again: new Set() }
        rounds.set(request, state)
      }
      return callAll(parts, hooks, request, state, reader)
    },
  }
}

async function callAll(
  parts: DispatchParts,
  hooks: readonly Hook[],
  request: AdmissionRequest,
  state: Rounds,
  reader: ObjectReader,
): Promise<void> {
  const second = request.round === 1
  let patchedBefore = second
  if (second && !semanticEqual(state.output, request.object)) callAgain(state)
  let versioned: Versioned | undefined
  for (const [i, hook] of hooks.entries()) {
    const invocation = invocationOf(hook, request)
    if (invocation === undefined) continue
    if (invocation.byNamespace && !(await inSelectedNamespace(invocation, request, reader)))
      continue
    if (second && !state.again.has(hook.id)) continue
    if (versioned === undefined || versioned.kind !== invocation.kind) {
      if (versioned !== undefined) await copyIntoRequest(parts, request, versioned)
      versioned = await Versioned.of(request, invocation.kind, parts.release)
      versioned.patchedBefore = patchedBefore
    }
    if (!(await meetsConditions(parts, 'admit', hook, request, versioned))) continue
    const changed = await callOne(parts, hook, i, request, versioned, reader)
    patchedBefore ||= versioned.dirty
    versioned.patchedBefore = patchedBefore
    if (changed) {
      callAgain(state)
      request.reinvoke = true
      await copyIntoRequest(parts, request, versioned)
    }
    if (hook.reinvocable) state.called.add(hook.id)
  }
  if (versioned !== undefined) await copyIntoRequest(parts, request, versioned)
  // The second round always runs this, whatever the first round changed.
  if (second && releaseOf(parts.release).has(restoresOwners))
    loadOwners().keepReadableOwners(request, state.owners)
  state.output = request.object && structuredClone(request.object)
}

function callAgain(state: Rounds): void {
  for (const id of state.called) state.again.add(id)
  state.called.clear()
}

/** Calls one webhook. Returns whether it changed the object. */
async function callOne(
  parts: DispatchParts,
  hook: Hook,
  index: number,
  request: AdmissionRequest,
  versioned: Versioned,
  reader: ObjectReader,
): Promise<boolean> {
  const place = `round_${request.round ?? 0}_index_${index}`
  const began = performance.now()
  let failure: unknown
  let changed = false
  try {
    const verdict = await askHook(parts, hook, request, versioned, reader, true)
    changed = patchObject(parts, hook, verdict, request, versioned, place)
  } catch (error) {
    failure = error
  }
  if (releaseOf(parts.release).has(annotatesMutations)) {
    const { configuration, name } = hook
    note(request, `mutation.webhook.admission.k8s.io/${place}`, {
      configuration,
      webhook: name,
      mutated: changed,
    })
  }
  const { error, ignored } = judge(parts, 'admit', hook, request, began, failure)
  if (ignored && releaseOf(parts.release).has(recordsIgnoredMutators)) {
    request.auditAnnotations.set(
      `failed-open.mutation.webhook.admission.k8s.io/${place}`,
      hook.name,
    )
  }
  if (error !== undefined) throw error
  return changed
}

const note = ({ auditAnnotations }: AdmissionRequest, key: string, value: Loose) =>
  auditAnnotations.set(key, JSON.stringify(value))

function patchObject(
  parts: DispatchParts,
  hook: Hook,
  { patch, patchType }: ReviewResult,
  request: AdmissionRequest,
  versioned: Versioned,
  place: string,
): boolean {
  if (patch === '') return false
  const operations = operationsIn(patch)
  if (operations === null || (Array.isArray(operations) && operations.length === 0)) return false
  const before = versioned.object
  if (before === undefined) {
    throw internalError(
      `admission webhook "${hook.name}" attempted to modify the object, which is not supported for this operation`,
    )
  }
  if (patchType !== 'JSONPatch') throw new CallFailed(hook, `unsupported patch type "${patchType}"`)
  const after = orInternal(() => {
    const patched = applyJsonPatch(before as unknown as Json, operations, parts.release) as Loose
    return settled(parts, versioned, patched, operations)
  })
  if (releaseOf(parts.release).has(annotatesMutations)) {
    const { configuration, name } = hook
    note(request, `patch.webhook.admission.k8s.io/${place}`, {
      configuration,
      webhook: name,
      patch: (operations as Loose[]).map(sortedKeys),
      patchType,
    })
  }
  const changed = isStampedNow(request, versioned) || !semanticEqual(before, after)
  versioned.object = after
  return changed
}

const sortedKeys = (operation: Loose): Loose =>
  Object.fromEntries(Object.entries(operation).sort(([a], [b]) => (a < b ? -1 : 1)))

/**
 * Whether a patch changes only the precision of times. managedFields entries of this request have
 * nanoseconds until they are first encoded. A patch encodes them, so kube-apiserver then sees a
 * changed object. Custom objects have times as text and are not affected.
 */
function isStampedNow({ operation, old }: AdmissionRequest, versioned: Versioned): boolean {
  if (versioned.patchedBefore || versioned.kind.decoding === 'free') return false
  const entries = versioned.object?.metadata?.managedFields ?? []
  if (operation === 'CREATE') return entries.length > 0
  const before = new Set(old?.metadata?.managedFields?.map((entry) => JSON.stringify(entry)))
  return entries.some((entry) => !before.has(JSON.stringify(entry)))
}

function operationsIn(patch: string): Json {
  const text = Buffer.from(patch, 'base64').toString('utf8')
  try {
    return parseJson(text, storedDepthMax)
  } catch (error) {
    throw internalError((error as Error).message)
  }
}

/** A patch that cannot be applied is the webhook's mistake, not the client's. */
function orInternal<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    const { cause, message } = error as Error
    throw internalError(cause instanceof Error ? cause.message : message)
  }
}
