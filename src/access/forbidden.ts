/** The 403 for a forbidden request, in Kubernetes' words. It decides nothing. */
import { goFormat, goQuote } from '#api/go-syntax.ts'
import { ApiError, forbiddenRequest } from '#api/status-error.ts'
import type { Attributes } from './authorize.ts'

/** `User "x" cannot list resource "pods" in API group "" in the namespace "y": <reason>` */
function forbiddenMessage(attributes: Attributes, reason: string): string {
  const said = withoutMarkup(sentence(attributes))
  // kube-apiserver takes the sentence for a format.
  return goFormat(reason === '' ? said : `${said}: ${reason}`)
}

export const forbidden = (attributes: Attributes, reason: string): ApiError =>
  forbiddenRequest(
    // A path is of no group, even where its name has one.
    { group: attributes.isResource ? attributes.group : '', plural: attributes.resource },
    attributes.name,
    forbiddenMessage(attributes, reason),
  )

/** The rejection of a request before it was parsed: the response must not guess its target. */
export class ShutOut extends ApiError {}

export function shutOut(attributes: Attributes, reason: string): ShutOut {
  const { code, reason: why, message, details } = forbidden(attributes, reason)
  return new ShutOut(code, why, message, details)
}

function sentence({ user, verb, isResource, ...rest }: Attributes): string {
  const who = `User ${goQuote(user.name)} cannot ${verb}`
  if (!isResource) return `${who} path ${goQuote(rest.path)}`
  const { resource, subresource, group, namespace } = rest
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`
  return `${who} resource ${goQuote(what)} in API group ${goQuote(group)} ${where}`
}

/** Errors never look like HTML, whatever a request put into its path. */
const withoutMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
