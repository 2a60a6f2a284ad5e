/**
 * Records who asked what, and what came of it, as the policy says: when a request is known, when a long answer begins,
 * and when it is over. Requests the policy leaves out cost one look at its rules.
 */
import type { User } from '#access/user.ts'
import { cutFor, headerOf, jsonOf } from '#http/represent.ts'
import { listStart } from '#http/list-body.ts'
import { decodeBody } from '#http/body.ts'
import type { Exchange } from '#http/exchange.ts'
import type { Observer } from '#http/parts.ts'
import type {
  AuditEvent,
  AuditUser,
  ObjectReference,
  ResponseStatus,
} from '#observe/audit/event.ts'
import type { Level, Policy, Stage, Verdict } from '#observe/audit/policy.ts'
import type { AuditSink } from '#observe/audit/sink.ts'
import type { ServerMetrics } from '#observe/metrics/server-metrics.ts'
import type { Answer } from '#verbs/answer.ts'
import type { ParseStored } from '#watchcache/entry.ts'
import { isLongRunning } from './request-place.ts'
import { sourceAddresses } from './source-addresses.ts'

export interface AuditParts {
  readonly policy: Policy
  readonly sinks: readonly AuditSink[]
  readonly metrics: ServerMetrics
  readonly parseStored: () => ParseStored
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly report: (message: string, error: unknown) => void
}

/** What is kept of a request while it runs. */
class AuditRecord {
  readonly verdict: Verdict
  readonly receivedAtMs: number
  /** Looked up while the connection is there. */
  readonly addresses: readonly string[]

  constructor(verdict: Verdict, receivedAtMs: number, addresses: readonly string[]) {
    this.verdict = verdict
    this.receivedAtMs = receivedAtMs
    this.addresses = addresses
  }
}

const agentLengthMax = 1024

export function auditObserver(parts: AuditParts): Observer {
  const open = (exchange: Exchange): AuditRecord => {
    const { target } = exchange
    // Rules are about who really asks, and see the path as it is.
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
  const emit = (
    exchange: Exchange,
    record: AuditRecord,
    stage: Stage,
    more: Partial<AuditEvent>,
  ) => {
    const { level, omitted } = record.verdict
    if (level === 'None' || omitted.has(stage)) return
    const event: AuditEvent = {
      ...baseEvent(exchange, record, level, stage),
      ...more,
      stageAtMs: parts.now(),
    }
    parts.metrics.auditEvents.value++
    for (const sink of parts.sinks) sink.take(event)
  }
  const complete = async (exchange: Exchange, record: AuditRecord) => {
    const { level } = record.verdict
    const objects =
      level === 'None' || level === 'Metadata'
        ? {}
        : await objectsOf(exchange, level, parts.parseStored())
    const stage = exchange.defect === undefined ? 'ResponseComplete' : 'Panic'
    emit(exchange, record, stage, {
      ...completedParts(exchange),
      ...objects,
      responseStatus:
        exchange.defect === undefined ? statusOf(exchange) : panicStatus(exchange.defect),
    })
  }
  return {
    begin(exchange) {
      const record = open(exchange)
      emit(exchange, record, 'RequestReceived', {})
    },
    started(exchange) {
      const record = exchange.record
      if (!(record instanceof AuditRecord) || !isLongRunning(exchange.target)) return
      emit(exchange, record, 'ResponseStarted', {
        ...completedParts(exchange),
        responseStatus: statusOf(exchange),
      })
    },
    end(exchange) {
      if (exchange.record instanceof AuditRecord) {
        complete(exchange, exchange.record).catch((error) =>
          parts.report('a record of the audit log is lost', error),
        )
        return
      }
      // Nobody was found to ask: the refusal is all there is to tell.
      const record = open(exchange)
      const refused = exchange.status === 401
      emit(exchange, record, refused ? 'ResponseStarted' : 'ResponseComplete', {
        ...(refused && { user: {} as AuditUser }),
        responseStatus: {
          ...statusOf(exchange),
          ...(refused && { message: attemptedText(exchange) }),
        },
      })
    },
  }
}

function baseEvent(
  exchange: Exchange,
  record: AuditRecord,
  level: Level,
  stage: Stage,
): AuditEvent {
  const { wire, target, auditId, impersonator, user } = exchange
  const agent = String(wire.headers['user-agent'] ?? '')
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

/** What is known only after the request has been let in. */
function completedParts(exchange: Exchange): Partial<AuditEvent> {
  const { impersonator, user, auditAnnotations } = exchange
  return {
    ...(impersonator !== undefined && { impersonatedUser: userOf(user) }),
    ...(auditAnnotations.size > 0 && {
      annotations: Object.fromEntries([...auditAnnotations].sort(byName)),
    }),
  }
}

const byName = ([a]: [string, string], [b]: [string, string]) => (a < b ? -1 : a > b ? 1 : 0)

const userOf = ({ name, uid, groups, extra }: User): AuditUser => ({
  username: name,
  ...(uid !== '' && { uid }),
  ...(groups.length > 0 && { groups }),
  ...(Object.keys(extra).length > 0 && { extra }),
})

function referenceOf({ target, answer }: Exchange): ObjectReference | undefined {
  if (!target.isResource) return undefined
  const { resource, namespace, authorizedName, group, version, subresource } = target
  // A name that the server made is known when the object is.
  const name = authorizedName || (answer?.is === 'object' ? answer.view.name : '')
  return {
    resource,
    ...(namespace !== '' && { namespace }),
    ...(name !== '' && { name }),
    ...(group !== '' && { apiGroup: group }),
    apiVersion: version,
    ...(subresource !== '' && { subresource }),
  }
}

function statusOf({ status, refusal }: Exchange): ResponseStatus {
  if (refusal !== undefined) {
    const { code, reason } = refusal
    return { metadata: {}, status: 'Failure', ...(reason !== '' && { reason }), code }
  }
  if (status === 0)
    return { metadata: {}, status: 'Success', message: 'Connection closed early', code: 200 }
  return { metadata: {}, code: status }
}

const panicStatus = (defect: unknown): ResponseStatus => ({
  metadata: {},
  status: 'Failure',
  message: `APIServer panic'd: ${defect instanceof Error ? defect.message : String(defect)}`,
  reason: 'InternalError',
  code: 500,
})

function attemptedText({ wire, query }: Exchange): string {
  const authorization = String(wire.headers.authorization ?? '').trim()
  const tried = [
    ...(/^basic +\S/i.test(authorization) ? ['basic'] : []),
    ...(/^bearer +\S/i.test(authorization) ? ['bearer'] : []),
    ...(query.get('access_token')?.trim() ? ['access_token'] : []),
    ...(wire.clientCertificate?.() === undefined ? [] : ['x509']),
  ]
  if (tried.length === 0) return 'Authentication failed, no credentials provided'
  return `Authentication failed, attempted: ${tried.join(', ')}`
}

/** What was sent and answered, as JSON, as far as the level asks for it. */
async function objectsOf(
  exchange: Exchange,
  level: Level,
  parse: ParseStored,
): Promise<Partial<AuditEvent>> {
  const requestObject = requestText(exchange)
  const responseObject =
    level === 'RequestResponse' ? await responseText(exchange, parse) : undefined
  return { ...(requestObject && { requestObject }), ...(responseObject && { responseObject }) }
}

function requestText(exchange: Exchange): string | undefined {
  const { body, kind } = exchange
  if (body === undefined || body.length === 0 || kind === undefined) return undefined
  const type = String(exchange.wire.headers['content-type'] ?? '')
  try {
    if (/json/.test(type) || type === '') return JSON.stringify(JSON.parse(body.toString('utf8')))
    return JSON.stringify(decodeBody(exchange, kind, body))
  } catch {
    return undefined
  }
}

async function responseText(exchange: Exchange, parse: ParseStored): Promise<string | undefined> {
  const { answer, refusal } = exchange
  if (refusal !== undefined) return JSON.stringify(refusal.status())
  if (answer === undefined) return undefined
  switch (answer.is) {
    case 'object':
      return jsonOf(answer.kind, await cutFor(answer.kind, answer.view, parse), answer.view)
        .toString('utf8')
        .trimEnd()
    case 'list':
      return listText(answer, parse)
    default:
      return JSON.stringify(answer.value)
  }
}

/** Items of built-in kinds do not say what they are. */
async function listText(answer: Answer & { is: 'list' }, parse: ParseStored): Promise<string> {
  const { kind, entries, revision, continueToken, remaining } = answer
  const header = kind.itemsCarryType ? 0 : headerOf(kind).length
  const items: string[] = []
  for (const entry of entries) {
    const text = jsonOf(kind, await cutFor(kind, entry, parse), entry)
      .toString('utf8')
      .trimEnd()
    items.push(header === 0 ? text : `{${text.slice(header)}`)
  }
  return `${listStart({ kind: kind.listKind, apiVersion: kind.apiVersion, revision, continueToken, remaining })}${items.join(',')}]}`
}
