/**
 * Records requests with their users and results, according to the audit policy. The stages are:
 * request received, long-running response started, response complete. A request without a matching
 * rule costs only one evaluation of the policy. If a sink is blocking, the response is sent after
 * its records are written. A strict sink rejects a request that it cannot record.
 */
import { firstText } from '#access/authenticate/header-values.ts'
import type { User } from '#access/user.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import type { ApiError } from '#api/status-error.ts'
import type { Exchange } from '#http/exchange.ts'
import type { ShapeParts } from '#http/response/represent.ts'
import type { Observer } from '#http/parts.ts'
import type {
  AuditEvent,
  AuditUser,
  ObjectReference,
  ResponseStatus,
} from '#observe/audit/event.ts'
import type { AuditLevel, Policy, Stage, AuditDecision } from '#observe/audit/policy.ts'
import type { AuditSink } from '#observe/audit/sink.ts'
import type { ServerMetrics } from '#observe/metrics/server-metrics.ts'
import { RecordedAnswer, refuseUnrecorded } from './recorded-answer.ts'
import { withoutManagedFields } from './omitted-managed-fields.ts'
import { requestText, sentObject } from './request-object.ts'
import { isLongRunning } from './request-place.ts'
import { responseText } from './response-object.ts'
import { sourceAddresses } from './source-addresses.ts'

export interface AuditParts {
  readonly policy: Policy
  readonly sinks: readonly AuditSink[]
  /** Whether requests wait for blocking sinks. */
  readonly waits?: boolean
  /**
   * Whether the start of a watch response is visible to the audit log. From 1.16 to 1.22 it is not:
   * both stages are recorded at the end of the watch, with only the end's details.
   */
  readonly seesWatchesBegin: boolean
  readonly release: Release
  readonly metrics: ServerMetrics
  /** Decodes responses; called only after the server has started. */
  readonly server: () => ShapeParts['server']
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly report: (message: string, error: unknown) => void
}

/** The state of a request that the audit log keeps until the response is complete. */
class AuditRecord {
  readonly verdict: AuditDecision
  readonly receivedAtMs: number
  /** Resolved while the connection is open. */
  readonly addresses: readonly string[]
  /** Whether the user was authenticated and RequestReceived was recorded. */
  begun = false
  /** Whether ResponseStarted was recorded. */
  started = false
  /** Whether the audit log did not see the response, as of watches in releases 1.16 to 1.22. */
  isUnseen = false
  /** Pending results of blocking sinks. */
  readonly keeping: Promise<boolean>[] = []
  isUnkept = false
  /** The response that waits for the pending results. */
  held: RecordedAnswer | undefined
  /**
   * Whether the request was rejected because a strict sink failed. Nothing more is recorded for it.
   */
  isUnrecorded = false

  constructor(verdict: AuditDecision, receivedAtMs: number, addresses: readonly string[]) {
    this.verdict = verdict
    this.receivedAtMs = receivedAtMs
    this.addresses = addresses
  }

  /** Whether the policy records this request. */
  get isKept(): boolean {
    return this.verdict.level !== 'None'
  }
}

const agentLengthMax = 1024

/** Makes audit events and passes them to the sinks. */
class Recorder {
  readonly #parts: AuditParts

  constructor(parts: AuditParts) {
    this.#parts = parts
  }

  open(exchange: Exchange): AuditRecord {
    const parts = this.#parts
    const { target } = exchange
    // The rules match the authenticated user, not the impersonated user, and the actual path.
    const user = exchange.impersonator ?? exchange.user
    const verdict = parts.policy.decide({ ...target, user, name: target.authorizedName })
    parts.metrics.auditLevels.labels(verdict.level).add(1)
    const record = new AuditRecord(
      verdict,
      parts.now(),
      verdict.level === 'None' ? [] : sourceAddresses(exchange.wire),
    )
    exchange.record = record
    return record
  }

  emit(exchange: Exchange, record: AuditRecord, stage: Stage, more: Partial<AuditEvent>): void {
    const parts = this.#parts
    const { level, omitted } = record.verdict
    if (level === 'None' || omitted.has(stage)) return
    const event: AuditEvent = {
      ...baseEvent(exchange, record, level, stage),
      ...more,
      stageAtMs: parts.now(),
    }
    parts.metrics.auditEvents.value++
    for (const sink of parts.sinks) {
      const kept = sink.take(event)
      if (typeof kept === 'object') record.keeping.push(kept)
      else if (kept === false) record.isUnkept = true
    }
  }

  /**
   * Delays the request until its first record is written, and its response until all are. Rejects
   * the request if a strict sink could not record it.
   */
  wait(exchange: Exchange, record: AuditRecord): Promise<void> | void {
    if (!this.#parts.waits || !record.isKept) return
    // A long-running response is not delayed: it starts before the last record exists.
    if (!isLongRunning(exchange.target)) record.held = new RecordedAnswer(exchange.wire)
    if (record.keeping.length > 0)
      return Promise.all(record.keeping).then((all) => {
        if (!all.every((isKept) => isKept)) this.#refuse(exchange, record)
      })
    if (record.isUnkept) this.#refuse(exchange, record)
  }

  #refuse(exchange: Exchange, record: AuditRecord): never {
    record.isUnrecorded = true
    this.#parts.metrics.auditRejected.add(1)
    refuseUnrecorded(exchange)
  }

  async complete(exchange: Exchange, record: AuditRecord): Promise<void> {
    const { level } = record.verdict
    if (level === 'None') return
    const sent = sentObject(exchange)
    const objects =
      level === 'Metadata'
        ? {}
        : await objectsOf(exchange, record.verdict, sent, this.#parts.server())
    const failed = exchange.defect !== undefined
    const event = {
      ...completedParts(exchange, level),
      ...objects,
      objectRef: referenceOf(exchange, sent),
      responseStatus: failed
        ? panicStatus(exchange.defect)
        : record.isUnseen
          ? unseenStatus
          : statusOf(exchange, this.#parts.release),
    }
    // A rejection is also a response, so its start must be recorded.
    const startIsMissing = isLongRunning(exchange.target) && !record.started && !failed
    if (startIsMissing) this.emit(exchange, record, 'ResponseStarted', event)
    this.emit(exchange, record, failed ? 'Panic' : 'ResponseComplete', event)
  }
}

export function auditObserver(parts: AuditParts): Observer {
  const recorder = new Recorder(parts)
  return {
    begin(exchange) {
      const record = recorder.open(exchange)
      record.begun = true
      recorder.emit(exchange, record, 'RequestReceived', {})
      return recorder.wait(exchange, record)
    },
    refusing(exchange) {
      if (exchange.record === undefined) recorder.open(exchange)
    },
    started(exchange) {
      const record = exchange.record
      if (!(record instanceof AuditRecord) || !isLongRunning(exchange.target)) return
      record.isUnseen = !parts.seesWatchesBegin
      if (record.isUnseen) return
      record.started = true
      recorder.emit(exchange, record, 'ResponseStarted', {
        ...completedParts(exchange, record.verdict.level),
        responseStatus: statusOf(exchange, parts.release),
      })
    },
    end(exchange) {
      const known = exchange.record instanceof AuditRecord ? exchange.record : undefined
      if (known?.isUnrecorded) return known.held?.release()
      if (known?.begun) {
        const recording = recorder
          .complete(exchange, known)
          .catch((error) => parts.report('a record of the audit log is lost', error))
        const { held, keeping } = known
        // A request that timed out gets its response at once, even if its records are still
        // pending.
        if (exchange.refusal?.code === 504) held?.release()
        else if (held)
          void recording
            .then(() => (keeping.length > 0 ? Promise.all(keeping) : undefined))
            .then(() => held.release())
        return
      }
      // The request was rejected before authorization. A 401 and the 400 of an invalid timeout come
      // before authentication, so they have neither a user nor a record of their beginning.
      const record = known ?? recorder.open(exchange)
      const refused = exchange.status === 401 || exchange.status === 400
      if (!refused) recorder.emit(exchange, record, 'RequestReceived', {})
      const { refusal } = exchange
      const whole =
        record.verdict.level === 'RequestResponse' &&
        refusal !== undefined &&
        !isWrittenRaw(refusal)
      recorder.emit(exchange, record, refused ? 'ResponseStarted' : 'ResponseComplete', {
        ...(refused && { user: {} as AuditUser }),
        ...annotationsOf(exchange, record.verdict.level),
        ...(whole && { responseObject: JSON.stringify(refusal.status()) }),
        responseStatus: statusOf(exchange, parts.release),
      })
    },
  }
}

function baseEvent(
  exchange: Exchange,
  record: AuditRecord,
  level: AuditLevel,
  stage: Stage,
): AuditEvent {
  const { wire, target, auditId, impersonator, user } = exchange
  const agent = firstText(wire.headers['user-agent']) ?? ''
  return {
    level,
    auditID: auditId,
    stage,
    requestURI: wire.url,
    verb: target.verb,
    user: userOf(impersonator ?? user),
    sourceIPs: record.addresses,
    userAgent:
      agent === ''
        ? undefined
        : agent.length > agentLengthMax
          ? `${agent.slice(0, agentLengthMax)}...TRUNCATED`
          : agent,
    objectRef: referenceOf(exchange),
    requestReceivedAtMs: record.receivedAtMs,
    stageAtMs: record.receivedAtMs,
  }
}

/**
 * Patches by webhooks contain parts of the object, so they are recorded from the level Request on.
 */
const ofContents = 'patch.webhook.admission.k8s.io/'

/** Fields that are known only after authorization. */
function completedParts(exchange: Exchange, level: AuditLevel): Partial<AuditEvent> {
  const { impersonator, user, impersonationConstraint } = exchange
  return {
    ...(impersonator !== undefined && { impersonatedUser: userOf(user) }),
    ...(impersonationConstraint !== '' && { authenticationMetadata: { impersonationConstraint } }),
    ...annotationsOf(exchange, level),
  }
}

function annotationsOf({ auditAnnotations }: Exchange, level: AuditLevel): Partial<AuditEvent> {
  const annotations = [...auditAnnotations].filter(
    ([name]) => level !== 'Metadata' || !name.startsWith(ofContents),
  )
  if (annotations.length === 0) return {}
  return { annotations: Object.fromEntries(annotations.sort(byName)) }
}

const byName = ([a]: [string, string], [b]: [string, string]) => (a < b ? -1 : a > b ? 1 : 0)

const userOf = ({ name, uid, groups, extra }: User): AuditUser => ({
  username: name,
  ...(uid !== '' && { uid }),
  ...(groups.length > 0 && { groups }),
  ...(Object.keys(extra).length > 0 && { extra }),
})

/** `sent` is the object in the request body, if it was decoded. */
function referenceOf({ target }: Exchange, sent?: Loose): ObjectReference | undefined {
  if (!target.isResource) return undefined
  const { resource, namespace, authorizedName, group, version, subresource } = target
  const textFieldOf = (field: string) => {
    const value: unknown = sent?.metadata?.[field]
    return typeof value === 'string' ? value : ''
  }
  const name = authorizedName || textFieldOf('name')
  const uid = textFieldOf('uid')
  const resourceVersion = textFieldOf('resourceVersion')
  return {
    resource,
    ...(namespace !== '' && { namespace }),
    ...(name !== '' && { name }),
    ...(uid !== '' && { uid }),
    ...(group !== '' && { apiGroup: group }),
    apiVersion: version,
    ...(resourceVersion !== '' && { resourceVersion }),
    ...(subresource !== '' && { subresource }),
  }
}

/** The status of a response that the audit log did not see. */
const unseenStatus: ResponseStatus = {
  metadata: {},
  status: 'Success',
  message: 'Connection closed early',
  code: 200,
}

const statusesHaveDetails = change('the audit log has the message and the details of errors', {
  since: 24,
})

/** A 406 is written without a serializer, so the audit log sees only its code. */
const isWrittenRaw = ({ code }: ApiError): boolean => code === 406

function statusOf({ status: code, refusal, answer }: Exchange, release: Release): ResponseStatus {
  if (refusal !== undefined && isWrittenRaw(refusal)) return { metadata: {}, code: refusal.code }
  if (refusal !== undefined) return boundedStatus(refusal.status(), refusal.code, release)
  if (code === 0) return unseenStatus
  if (answer?.is === 'value' && answer.value.kind === 'Status')
    return boundedStatus(answer.value, code, release)
  return { metadata: {}, code }
}

/** A Status without the parts that can be of any size. */
function boundedStatus(
  { status, message, reason, details }: Loose,
  code: number,
  release: Release,
): ResponseStatus {
  const isWhole = release.has(statusesHaveDetails)
  return {
    metadata: {},
    ...(status && { status }),
    ...(isWhole && message && { message }),
    ...(reason && { reason }),
    ...(isWhole && details && { details }),
    code,
  }
}

const panicStatus = (defect: unknown): ResponseStatus => ({
  metadata: {},
  status: 'Failure',
  message: `APIServer panic'd: ${defect instanceof Error ? defect.message : String(defect)}`,
  reason: 'InternalError',
  code: 500,
})

/** The request and response objects as JSON, if the audit level includes them. */
async function objectsOf(
  exchange: Exchange,
  { level, omitsManagedFields }: AuditDecision,
  sent: Loose | undefined,
  server: ShapeParts['server'],
): Promise<Partial<AuditEvent>> {
  const request = requestText(exchange, sent, releaseOf(server.release))
  const isSeen = exchange.refusal === undefined || !isWrittenRaw(exchange.refusal)
  const response =
    level === 'RequestResponse' && isSeen ? await responseText(exchange, { server }) : undefined
  // A patch is recorded as the client sent it.
  const requestObject =
    omitsManagedFields && request && sent ? withoutManagedFields(request) : request
  const responseObject = omitsManagedFields && response ? withoutManagedFields(response) : response
  return { ...(requestObject && { requestObject }), ...(responseObject && { responseObject }) }
}
