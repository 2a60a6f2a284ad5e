/** Encodes an audit event as Event of audit.k8s.io. Its objects are already JSON. */
import type { AuditLevel, AuditVersion, Stage } from './policy.ts'

export interface AuditUser {
  readonly username: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface ObjectReference {
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly apiGroup?: string
  readonly apiVersion?: string
  readonly resourceVersion?: string
  readonly subresource?: string
}

export interface ResponseStatus {
  readonly metadata: object
  readonly status?: string
  readonly message?: string
  readonly reason?: string
  readonly details?: object
  readonly code: number
}

export interface AuditEvent {
  readonly level: AuditLevel
  readonly auditID: string
  readonly stage: Stage
  readonly requestURI: string
  readonly verb: string
  readonly user: AuditUser
  readonly impersonatedUser?: AuditUser | undefined
  /** How the impersonation was permitted, if only for certain users and requests. */
  readonly authenticationMetadata?: { readonly impersonationConstraint: string } | undefined
  readonly sourceIPs: readonly string[]
  readonly userAgent?: string | undefined
  readonly objectRef?: ObjectReference | undefined
  readonly responseStatus?: ResponseStatus | undefined
  /** The objects as JSON text. */
  readonly requestObject?: string | undefined
  readonly responseObject?: string | undefined
  readonly requestReceivedAtMs: number
  readonly stageAtMs: number
  readonly annotations?: Readonly<Record<string, string>> | undefined
}

/** Formats a time as RFC 3339 with six decimals. */
export function microTime(ms: number): string {
  const micros = Math.floor(ms * 1000)
  const within = ((micros % 1e6) + 1e6) % 1e6
  return `${new Date(Math.floor(micros / 1e6) * 1000).toISOString().slice(0, 19)}.${String(within).padStart(6, '0')}Z`
}

/** The oldest version has group and version in one field. */
function asOldest(reference: ObjectReference | undefined): ObjectReference | undefined {
  if (reference?.apiGroup === undefined) return reference
  const { resource, namespace, name, uid, apiGroup, apiVersion, ...rest } = reference
  return {
    resource,
    namespace,
    name,
    uid,
    apiVersion: `${apiGroup}/${apiVersion}`,
    ...rest,
  } as ObjectReference
}

/**
 * Encodes an event in kube-apiserver's order. Empty fields are omitted, and objects are inserted
 * unchanged.
 */
export function eventJson(event: AuditEvent, version: AuditVersion = 'audit.k8s.io/v1'): string {
  const { level, auditID, stage, requestURI, verb, user, impersonatedUser, sourceIPs } = event
  const { authenticationMetadata } = event
  const { userAgent, objectRef, responseStatus, requestObject, responseObject, annotations } = event
  const isOld = version !== 'audit.k8s.io/v1'
  const at = isOld ? `${microTime(event.requestReceivedAtMs).slice(0, 19)}Z` : undefined
  const head = {
    kind: 'Event',
    apiVersion: version,
    metadata: isOld ? { creationTimestamp: at } : undefined,
    level,
    timestamp: at,
    auditID,
    stage,
    requestURI,
    verb,
    user,
    impersonatedUser,
    authenticationMetadata,
    sourceIPs,
    userAgent,
    objectRef: version === 'audit.k8s.io/v1alpha1' ? asOldest(objectRef) : objectRef,
    responseStatus,
  }
  let text = JSON.stringify(head).slice(0, -1)
  if (requestObject !== undefined) text += `,"requestObject":${requestObject}`
  if (responseObject !== undefined) text += `,"responseObject":${responseObject}`
  text += `,"requestReceivedTimestamp":"${microTime(event.requestReceivedAtMs)}","stageTimestamp":"${microTime(event.stageAtMs)}"`
  if (annotations !== undefined) text += `,"annotations":${JSON.stringify(annotations)}`
  return `${text}}`
}

const quoted = (values: readonly string[] | undefined) =>
  values === undefined || values.length === 0
    ? undefined
    : values.map((value) => JSON.stringify(value)).join(',')

/** The line of the legacy log format. */
export function legacyLine(event: AuditEvent): string {
  const { user, impersonatedUser: as, sourceIPs, objectRef, responseStatus } = event
  const pairs: [string, string][] = [
    ['id', event.auditID],
    ['stage', event.stage],
    ['ip', sourceIPs[0] ?? '<unknown>'],
    ['method', event.verb],
    ['user', user.username || '<none>'],
    ['groups', quoted(user.groups) ?? '<none>'],
    ['as', as?.username ?? '<self>'],
    ['asgroups', as === undefined ? '<lookup>' : (quoted(as.groups) ?? '<lookup>')],
    ['user-agent', event.userAgent ?? ''],
    ['namespace', objectRef?.namespace || '<none>'],
    ['uri', event.requestURI],
  ]
  const text = pairs.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(' ')
  return `${microTime(event.requestReceivedAtMs)} AUDIT: ${text} response="${responseStatus?.code ?? '<deferred>'}"`
}
