/**
 * Parses a path and a method: the target is a resource or a non-resource path. Routing and
 * authorization use the same result, so they cannot disagree.
 */
import { parseFieldSelector, soleName } from '#api/field-selector.ts'
import { nameIsPathSegment } from '#api/names.ts'
import { badRequest } from '#api/status-error.ts'

export interface RequestTarget {
  readonly isResource: boolean
  /** The decoded path, without the query. */
  readonly path: string
  /**
   * For resources: get list watch create update patch delete deletecollection; otherwise the method
   * in lower case.
   */
  readonly verb: string
  readonly prefix: 'api' | 'apis' | ''
  readonly group: string
  readonly version: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** The name for authorization; a field selector for one name counts as that name. */
  readonly authorizedName: string
  /** The path after the subresource, for proxy requests. */
  readonly rest: string
  /** Whether the path is one of the deprecated /watch/ paths. */
  readonly watchPath: boolean
  /**
   * Whether the target is inside a namespace. It is false for a Namespace object, for which
   * `namespace` is its own name.
   */
  readonly inside: boolean
  /** Whether the path has more segments than any resource path. */
  readonly tooDeep: boolean
}

/** A Map, because HTTP/2 permits any method name, including `constructor`. */
const verbOf = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])

/** Subresources of a Namespace object; other segments after a namespace are resources in it. */
const namespaceSubresources = new Set(['status', 'finalize'])
/** Subresources followed by a path. */
const takesPath = new Set(['proxy'])

function decodePath(raw: string): string {
  if (!raw.includes('%')) return raw
  try {
    return decodeURIComponent(raw)
  } catch {
    throw badRequest('the path is not valid percent-encoded UTF-8')
  }
}

const nonResource = (path: string, method: string): RequestTarget => ({
  isResource: false,
  path,
  verb: method.toLowerCase(),
  prefix: '',
  group: '',
  version: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  authorizedName: '',
  rest: '',
  watchPath: false,
  inside: false,
  tooDeep: false,
})

export function parseTarget(
  method: string,
  rawPath: string,
  query: URLSearchParams,
): RequestTarget {
  const path = decodePath(rawPath)
  const parts = path.split('/')
  if (parts.at(-1) === '') parts.pop()
  let at = parts[0] === '' ? 1 : 0
  const prefix = parts[at++]
  if (prefix !== 'api' && prefix !== 'apis') return nonResource(path, method)
  const group = prefix === 'apis' ? (parts[at++] ?? '') : ''
  const version = parts[at++] ?? ''
  if (at >= parts.length) return { ...nonResource(path, method), prefix, group, version }
  const watchPath = parts[at] === 'watch' && at + 1 < parts.length
  if (watchPath) at++
  let namespace = ''
  let inside = false
  if (parts[at] === 'namespaces' && at + 1 < parts.length) {
    namespace = parts[at + 1] as string
    inside = at + 2 < parts.length && !namespaceSubresources.has(parts[at + 2] as string)
    if (inside) at += 2
  }
  const name = parts[at + 1] ?? ''
  const subresource = parts[at + 2] ?? ''
  const verb = refineVerb(watchPath ? 'watch' : (verbOf.get(method) ?? ''), name, query)
  return {
    isResource: true,
    path,
    verb,
    prefix,
    group,
    version,
    namespace,
    resource: parts[at] ?? '',
    subresource,
    name,
    authorizedName:
      name === '' && !watchPath && namedBySelector.has(verb) ? selectedName(query) : name,
    rest: at + 3 < parts.length ? parts.slice(at + 3).join('/') : '',
    watchPath,
    inside,
    tooDeep: at + 3 < parts.length && !takesPath.has(subresource),
  }
}

/**
 * deletecollection and /watch/ paths affect all objects, so a permission for named objects does not
 * include them.
 */
const namedBySelector = new Set(['list', 'watch'])

/** The name in `fieldSelector=metadata.name=x`; empty if it is not a valid name. */
function selectedName(query: URLSearchParams): string {
  const text = query.get('fieldSelector')
  if (text === null || text === '') return ''
  try {
    const name = soleName(parseFieldSelector(text)) ?? ''
    return nameIsPathSegment(name, false).length === 0 ? name : ''
  } catch {
    return ''
  }
}

/**
 * Without a name, GET is a list or (with `watch` in the query) a watch, and DELETE is
 * deletecollection.
 */
function refineVerb(verb: string, name: string, query: URLSearchParams): string {
  if (name === '' && verb === 'get') {
    const watch = query.get('watch')
    const watches = watch !== null && watch.toLowerCase() !== 'false' && watch !== '0'
    return watches ? 'watch' : 'list'
  }
  if (name === '' && verb === 'delete') return 'deletecollection'
  return verb
}
