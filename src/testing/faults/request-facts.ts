/**
 * The properties of a request that fault rules compare, parsed before the server authenticates the
 * request.
 */
import type { Headers, Wire } from '#http/exchange.ts'
import { parseTarget } from '#http/request/request-target.ts'

export interface RequestFacts {
  readonly verb: string
  readonly group: string
  /** The plural name, and the subresource after a slash. */
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly user: string
  readonly userAgent: string
}

export function factsOf({ method, url, headers }: Wire): RequestFacts {
  const mark = url.indexOf('?')
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1))
  const target = parseTarget(method, mark < 0 ? url : url.slice(0, mark), query)
  const { verb, group, resource, subresource, namespace, authorizedName } = target
  return {
    verb,
    group,
    resource: subresource === '' ? resource : `${resource}/${subresource}`,
    namespace,
    name: authorizedName,
    user: userOf(headers),
    userAgent: text(headers['user-agent']),
  }
}

const text = (value: string | string[] | undefined): string => [value ?? ''].flat()[0] as string

/**
 * The impersonated user, or the subject of a service account token; otherwise the administrator of
 * the cluster.
 */
function userOf(headers: Headers): string {
  const impersonated = text(headers['impersonate-user'])
  if (impersonated !== '') return impersonated
  const [, payload = ''] = text(headers.authorization).split('.')
  if (payload === '') return 'test-admin'
  try {
    const { sub } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
    return typeof sub === 'string' ? sub : ''
  } catch {
    return ''
  }
}
