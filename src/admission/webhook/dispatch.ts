/**
 * Calls one webhook once: sends the review, reads the response, records warnings and audit
 * annotations, and returns the result.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { Authorizer } from '#access/authorize.ts'
import type { AdmissionRequest } from '#admission/admission.ts'
import type { PolicyMeter } from '#admission/policy/policy-meter.ts'
import { qualifiedName } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { ApiError, badRequest, internalError, timeout } from '#api/status-error.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { Hook } from './hook.ts'
import { type HookClient, NoClient } from './hook-client.ts'
import { readVerdict, reviewIn, reviewText, reviewVersionOf, type ReviewResult } from './review.ts'
import type { TypeParts, Versioned } from './versioned.ts'

export interface HookCall {
  readonly type: 'admit' | 'validating'
  readonly name: string
  readonly operation: string
  readonly durationMs: number
  readonly rejected: boolean
  /** The reason of the rejection in metrics. Empty if the call was not rejected. */
  readonly errorType: '' | 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error'
  /** The status code of the rejection. */
  readonly code: number
}

export interface DispatchParts extends TypeParts {
  readonly client: HookClient
  readonly newUid: () => string
  /** Evaluates match conditions. */
  readonly authorizer: Authorizer
  readonly observe: (call: HookCall) => void
  /** Whether webhooks are not called for access and token reviews. */
  readonly skipsReviews: boolean
  /** Metrics of match conditions. */
  readonly meter: () => PolicyMeter
  /** Logs failures that failurePolicy ignores. */
  readonly report: (message: string) => void
}

/** The webhook could not be called, or its response is invalid; its failure policy decides. */
export class CallFailed extends Error {
  constructor(hook: Hook, why: string) {
    super(`failed calling webhook "${hook.name}": ${why}`)
  }
}

/** The webhook rejected the request. */
export class Denied extends Error {
  readonly refusal: ApiError
  constructor(refusal: ApiError) {
    super(refusal.message)
    this.refusal = refusal
  }
}

const failuresNameStep = change('errors of mutating webhooks name the step that failed', {
  since: 22,
})

export async function askHook(
  parts: DispatchParts,
  hook: Hook,
  request: AdmissionRequest,
  versioned: Versioned,
  reader: ObjectReader,
  mutating: boolean,
): Promise<ReviewResult> {
  if (request.dryRun) requireNoSideEffects(hook)
  const stated = (step: string, error: unknown) => {
    const why = (error as Error).message
    return new CallFailed(
      hook,
      mutating && releaseOf(parts.release).has(failuresNameStep) ? `${step}: ${why}` : why,
    )
  }
  const uid = parts.newUid()
  const [version, text] = attempt(
    () => {
      const chosen = reviewVersionOf(hook.reviewVersions)
      return [chosen, reviewText(chosen, uid, request, versioned, parts.release)] as const
    },
    (error) => stated('could not create admission objects', error),
  )
  const answer = await parts.client
    .post({ client: hook.client, timeoutMs: timeLeftMs(hook, request) }, text, reader)
    .then((answered) => reviewIn(version, answered))
    .catch((error) => {
      const step =
        error instanceof NoClient ? 'could not get REST client' : 'failed to call webhook'
      throw stated(step, error)
    })
  const verdict = attempt(
    () => readVerdict(version, uid, mutating, answer),
    (error) => stated('received invalid webhook response', error),
  )
  for (const [key, value] of Object.entries(verdict.auditAnnotations)) {
    const name = `${hook.name}/${key}`
    if (qualifiedName(name).length > 0) continue
    if (!request.auditAnnotations.has(name)) request.auditAnnotations.set(name, value)
  }
  // Push one by one, because a call has a limit of arguments.
  for (const warning of verdict.warnings) request.warnings.push(warning)
  if (!verdict.allowed) throw new Denied(refusalOf(hook, verdict.result))
  return verdict
}

/** The webhook's own timeout, limited by the client's deadline. */
const timeLeftMs = ({ timeoutMs }: Hook, { deadlineAt }: AdmissionRequest): number =>
  deadlineAt === undefined
    ? timeoutMs
    : Math.max(1, Math.min(timeoutMs, deadlineAt - performance.now()))

function attempt<T>(run: () => T, failed: (error: unknown) => Error): T {
  try {
    return run()
  } catch (error) {
    throw failed(error)
  }
}

function requireNoSideEffects(hook: Hook): void {
  if (hook.sideEffects === undefined) throw new CallFailed(hook, 'Webhook SideEffects is nil')
  if (hook.sideEffects === 'None' || hook.sideEffects === 'NoneOnDryRun') return
  throw badRequest(`admission webhook "${hook.name}" does not support dry run`)
}

/**
 * The valid range of status codes. kube-apiserver aborts the connection for larger codes; this
 * server replaces them with the default.
 */
const codeMin = 400
const codeMax = 999

/** The error for the client when a webhook denies the request. */
function refusalOf({ name }: Hook, result: Loose = {}): ApiError {
  const denied = `admission webhook "${name}" denied the request`
  const { code = 0, reason = '', message = '', details, metadata } = result
  const why = message || reason
  const refusal = new ApiError(
    code >= codeMin && code <= codeMax ? code : codeMin,
    reason,
    why === '' ? `${denied} without explanation` : `${denied}: ${why}`,
    details ?? undefined,
  )
  refusal.listMeta = metadata
  return refusal
}

/** The effect of a failed call: the error for the client, or undefined if the request continues. */
export function judge(
  parts: DispatchParts,
  type: HookCall['type'],
  hook: Hook,
  { operation, deadlineAt }: AdmissionRequest,
  beganMs: number,
  error: unknown,
): { error: unknown; ignored: boolean } {
  const ignored = error instanceof CallFailed && hook.failsOpen
  const isOver = deadlineAt !== undefined && performance.now() >= deadlineAt
  const rejected = error !== undefined && !ignored
  const denied = error instanceof Denied
  parts.observe({
    type,
    name: hook.name,
    operation,
    durationMs: performance.now() - beganMs,
    rejected,
    errorType: !rejected
      ? ''
      : denied
        ? 'no_error'
        : error instanceof CallFailed
          ? 'calling_webhook_error'
          : 'apiserver_internal_error',
    code: denied ? error.refusal.code : 0,
  })
  if (error instanceof CallFailed) {
    const outcome = ignored ? 'failing open' : 'failing closed'
    parts.report(`Failed calling webhook, ${outcome} ${hook.name}: ${error.message}`)
  }
  // A webhook with failurePolicy Ignore need not be awaited after the client's deadline.
  if (ignored && isOver) {
    return { error: timeout('request did not complete within requested timeout'), ignored }
  }
  if (!rejected) return { error: undefined, ignored }
  if (denied) return { error: error.refusal, ignored }
  if (error instanceof CallFailed) return { error: internalError(error.message), ignored }
  return { error, ignored }
}
