/** Authorizes each request before its verb. */
import { after } from '#base/awaitable.ts'
import type { Attributes, Decision } from '#access/authorize.ts'
import { earlyForbidden } from '#access/forbidden.ts'
import { type Selectors, selectorsOfQuery } from '#access/selectors.ts'
import { internalError } from '#api/status-error.ts'
import type { User } from '#access/user.ts'
import type { Exchange } from '#http/exchange.ts'
import type { HttpParts } from '#http/parts.ts'
import type { RequestTarget } from '#http/request/request-target.ts'

export function authorize(exchange: Exchange, parts: HttpParts): void | Promise<void> {
  const attributes = requestAttributes(exchange, parts)
  const { instruments } = parts
  const beganAt = instruments === undefined ? 0 : parts.monotonicMs()
  return after(parts.authorizer.authorize(attributes), (decision) => {
    instruments?.authorized(resultOf(decision), parts.monotonicMs() - beganAt)
    settle(exchange, attributes, decision)
  })
}

/** The attributes of a request as its user sends it. */
export const requestAttributes = (exchange: Exchange, parts: HttpParts): Attributes =>
  attributesOf(exchange.target, exchange.user, selectorsOf(exchange, parts))

function resultOf({ decision, error }: Decision) {
  if (decision === 'allow') return 'allowed'
  if (error !== undefined) return 'error'
  return decision === 'deny' ? 'denied' : 'no-opinion'
}

const selectorsOf = ({ target, query }: Exchange, { authorizesSelectors }: HttpParts) =>
  authorizesSelectors && target.isResource ? selectorsOfQuery(target.verb, query) : undefined

export function attributesOf(target: RequestTarget, user: User, selectors?: Selectors): Attributes {
  return {
    user,
    verb: target.verb,
    isResource: target.isResource,
    group: target.group,
    version: target.version,
    resource: target.resource,
    subresource: target.subresource,
    namespace: target.namespace,
    name: target.authorizedName,
    path: target.path,
    selectors,
  }
}

function settle(exchange: Exchange, attributes: Attributes, decided: Decision): void {
  const { decision, reason, error } = decided
  const { auditAnnotations } = exchange
  auditAnnotations.set('authorization.k8s.io/decision', decision === 'allow' ? 'allow' : 'forbid')
  auditAnnotations.set('authorization.k8s.io/reason', reason)
  if (decision === 'allow') return
  if (error !== undefined) throw internalError(error)
  throw earlyForbidden(attributes, reason)
}
