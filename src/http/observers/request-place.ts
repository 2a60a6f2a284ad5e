/**
 * The labels of a request in metrics: verb, scope, dry run. They have few values, whatever clients
 * send.
 */
import type { Exchange } from '#http/exchange.ts'
import type { RequestTarget } from '#http/request/request-target.ts'

export type Scope = 'resource' | 'namespace' | 'cluster' | ''

export function scopeOf({ name, verb, namespace, isResource }: RequestTarget): Scope {
  if (name !== '' || verb === 'create') return 'resource'
  if (namespace !== '') return 'namespace'
  return isResource ? 'cluster' : ''
}

const knownMethods = new Set(['CONNECT', 'DELETE', 'PATCH', 'POST', 'PUT'])

/**
 * `WATCH`, `LIST` and `APPLY` where the method alone is not specific; `other` for unknown methods.
 */
export function reportedVerb({ target, wire }: Exchange, scope: Scope): string {
  const { method } = wire
  if (method === 'GET' || method === 'HEAD') {
    if (target.verb === 'watch') return 'WATCH'
    return scope === 'resource' || scope === '' ? 'GET' : 'LIST'
  }
  if (method === 'PATCH' && wire.headers['content-type'] === 'application/apply-patch+yaml')
    return 'APPLY'
  return knownMethods.has(method) ? method : 'other'
}

export function dryRunLabel({ query }: Exchange): string {
  if (!query.has('dryRun')) return ''
  const wanted = [...new Set(query.getAll('dryRun'))].sort()
  return wanted.every((one) => one === 'All') ? wanted.join(',') : 'invalid'
}

const longRunningSubresources = new Set(['log', 'exec', 'attach', 'portforward', 'proxy'])

/** Whether the request lasts until its client disconnects, and so counts against no limit. */
export const isLongRunning = ({ verb, subresource, isResource, path }: RequestTarget): boolean =>
  verb === 'watch' ||
  (isResource && longRunningSubresources.has(subresource)) ||
  (!isResource && path.startsWith('/debug/pprof/'))
