/**
 * Whether a path exists for a kind, and whether its method is one of it: 404 before 405. A path
 * exists where at least one verb of the kind lives on it. Looks at the path alone; what the object
 * is called is the verb's business.
 */
import { refuseUnfitName } from '#api/name-parameter.ts'
import {
  ApiError,
  badRequest,
  methodNotAllowed,
  methodNotSupported,
  notFound,
  pathNotFound,
} from '#api/status-error.ts'
import type { Kind } from '#kinds/kind.ts'
import { isConnection, requireConnectMethod } from './connect/connect.ts'
import type { RequestTarget } from './request-target.ts'

const onCollection = ['list', 'create', 'deletecollection']
const onEveryCollection = ['list']
const onItem = ['get', 'update', 'patch', 'delete']
/** Custom kinds take new objects at any path of theirs. */
const onCustomItem = [...onItem, 'create']
const watched = ['watch']
const needName = new Set(['update', 'patch'])

export function requireRoute(target: RequestTarget, method: string, kind: Kind): void {
  const { subresource, verb, name, namespace } = target
  // What follows a subresource of a custom kind is not looked at.
  if (target.tooDeep && kind.origin === 'built-in') throw pathNotFound()
  // Rights in a namespace would else be rights to all namespaces.
  if (!kind.namespaced && target.inside) throw pathNotFound()
  if (kind.namespaced && namespace === '' && name !== '') throw pathNotFound()
  if (subresource !== '') {
    requireSubresource(target, method, kind)
    return
  }
  if (kind.origin === 'custom' && name === '' && needName.has(verb))
    throw badRequest('name must be provided')
  const verbs = verbsOfPath(target, kind)
  if (!verbs.some((one) => kind.verbs.has(one))) throw pathNotFound()
  const isWatch = verb === 'watch' && verbs.includes('list')
  if (!kind.verbs.has(verb) || !(isWatch || verbs.includes(verb))) throw wrongMethod(kind, verb)
  requireLasting(kind, verb)
  requireMethod(target, method, kind)
}

function verbsOfPath({ name, namespace, watchPath }: RequestTarget, kind: Kind): string[] {
  if (watchPath) return watched
  if (name !== '') return kind.origin === 'built-in' ? onItem : onCustomItem
  return kind.namespaced && namespace === '' ? onEveryCollection : onCollection
}

function requireSubresource(target: RequestTarget, method: string, kind: Kind): void {
  const { subresource, verb, name } = target
  const sub = kind.subresources.get(subresource)
  if (target.watchPath) throw pathNotFound()
  if (sub === undefined) throw kind.origin === 'built-in' ? pathNotFound() : notFound(kind, name)
  if (isConnection(kind, subresource)) {
    requireConnectMethod(subresource, method)
    return
  }
  if (verb === '' || !sub.verbs.has(verb)) throw wrongMethod(kind, verb)
  requireMethod(target, method, kind)
}

const wrongMethod = (kind: Kind, verb: string): ApiError =>
  kind.origin === 'built-in' ? methodNotAllowed() : methodNotSupported(kind, verb)

/** Nothing new is made of a kind whose definition is on its way out. */
function requireLasting(kind: Kind, verb: string): void {
  if (kind.resource.terminating !== true || verb !== 'create') return
  const { code, reason, details } = methodNotSupported(kind, verb)
  const why = `${verb} not allowed while custom resource definition is terminating`
  throw new ApiError(code, reason, why, details)
}

/** Names that could lead out of their place among the keys. */
export function requireName(name: string): void {
  if (name === '.' || name === '..' || name.includes('%')) refuseUnfitName(name)
}

/**
 * Built-in kinds accept GET alone; custom ones accept HEAD for it, and any method for a /watch/
 * path.
 */
function requireMethod({ watchPath }: RequestTarget, method: string, kind: Kind): void {
  if (method === 'OPTIONS') throw wrongMethod(kind, '')
  if (kind.origin === 'custom') return
  if (method === 'HEAD' || (watchPath && method !== 'GET')) throw methodNotAllowed()
}
