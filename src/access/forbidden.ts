/** The 403 for a forbidden request, with the message of kube-apiserver. */
import { goFormat, goQuote } from '#api/go-syntax.ts'
import { ApiError, forbiddenRequest } from '#api/status-error.ts'
import type { Attributes } from './authorize.ts'

/** `User "x" cannot list resource "pods" in API group "" in the namespace "y": <reason>` */
function forbiddenMessage(attributes: Attributes, reason: string): string {
  const stated = withoutMarkup(sentence(attributes))
  // kube-apiserver passes the message through fmt.Sprintf, so a `%` in it is changed.
  return goFormat(reason === '' ? stated : `${stated}: ${reason}`)
}

export const forbidden = (attributes: Attributes, reason: string): ApiError =>
  forbiddenRequest(
    // A non-resource path has no group.
    { group: attributes.isResource ? attributes.group : '', plural: attributes.resource },
    attributes.name,
    forbiddenMessage(attributes, reason),
  )

/**
 * A request that was rejected before its body was parsed. The response carries
 * `X-Content-Type-Options: nosniff`.
 */
export class EarlyRefusal extends ApiError {}

export function earlyForbidden(attributes: Attributes, reason: string): EarlyRefusal {
  const { code, reason: why, message, details } = forbidden(attributes, reason)
  return new EarlyRefusal(code, why, message, details)
}

export const earlyBadRequest = (message: string): EarlyRefusal =>
  new EarlyRefusal(400, 'BadRequest', message)

function sentence({ user, verb, isResource, ...rest }: Attributes): string {
  const who = `User ${goQuote(user.name)} cannot ${verb}`
  if (!isResource) return `${who} path ${goQuote(rest.path)}`
  const { resource, subresource, group, namespace } = rest
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`
  return `${who} resource ${goQuote(what)} in API group ${goQuote(group)} ${where}`
}

/** Escapes HTML characters, because the request path is part of the message. */
const withoutMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
