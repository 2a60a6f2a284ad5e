/**
 * Checks whether a kind has the path (404), and then whether the path has the method (405). A path
 * exists if the kind supports at least one verb on it. It does not check the object's name.
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
import { isConnection, requireConnectMethod } from '#http/connect/connect.ts'
import type { RequestTarget } from './request-target.ts'

const onCollection = ['list', 'create', 'deletecollection']
const onEveryCollection = ['list']
const onItem = ['get', 'update', 'patch', 'delete']
/** Custom kinds accept POST on paths of objects. */
const onCustomItem = [...onItem, 'create']
const watched = ['watch']
const needName = new Set(['update', 'patch'])

export function requireRoute(target: RequestTarget, method: string, kind: Kind): void {
  const { subresource, verb, name, namespace } = target
  // For custom kinds, segments after the subresource are ignored.
  if (target.tooDeep && kind.origin === 'built-in') throw pathNotFound()
  // Otherwise permissions in one namespace would apply to cluster-scoped objects.
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

/** Rejects creation while the CustomResourceDefinition is being deleted. */
function requireLasting(kind: Kind, verb: string): void {
  if (kind.resource.terminating !== true || verb !== 'create') return
  const { code, reason, details } = methodNotSupported(kind, verb)
  const why = `${verb} not allowed while custom resource definition is terminating`
  throw new ApiError(code, reason, why, details)
}

/** Rejects names that could change the path of the key. */
export function requireName(name: string): void {
  if (name === '.' || name === '..' || name.includes('%')) refuseUnfitName(name)
}

/**
 * Built-in kinds accept only GET for reads. Custom kinds also accept HEAD, and any method on a
 * /watch/ path.
 */
function requireMethod({ watchPath }: RequestTarget, method: string, kind: Kind): void {
  if (method === 'OPTIONS') throw wrongMethod(kind, '')
  if (kind.origin === 'custom') return
  if (method === 'HEAD' || (watchPath && method !== 'GET')) throw methodNotAllowed()
}
