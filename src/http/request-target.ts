/**
 * The target of a path and a method: the resource, or a path without one. One function, one table
 * of tests; routing and authorization both use its result, so they cannot disagree.
 */
import { parseFieldSelector, soleName } from '#api/field-selector.ts'
import { nameIsPathSegment } from '#api/names.ts'
import { badRequest } from '#api/status-error.ts'

export interface RequestTarget {
  readonly isResource: boolean
  /** Decoded, without the query. */
  readonly path: string
  /**
   * For resources: get list watch create update patch delete deletecollection; else the method in
   * lower case.
   */
  readonly verb: string
  readonly prefix: 'api' | 'apis' | ''
  readonly group: string
  readonly version: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** The name that authorisation sees: a selector of one name counts as naming it. */
  readonly authorizedName: string
  /** What follows the subresource: the path a proxy request goes to. */
  readonly rest: string
  /** One of the deprecated /watch/ paths. */
  readonly watchPath: boolean
  /** Something in a namespace, not the namespace itself, whose own name counts as its namespace. */
  readonly inside: boolean
  /** More segments than any resource path has. */
  readonly tooDeep: boolean
}

/** A Map: over HTTP/2 a method may be any word, `constructor` too. */
const verbOf = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])

/** Subresources of a namespace itself; everything else below a namespace is a resource in it. */
const namespaceSubresources = new Set(['status', 'finalize'])
/** Subresources that take a path of their own behind them. */
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
 * A right to deletecollection, or to an old path of watches, covers all objects: a right to named
 * objects does not include it.
 */
const namedBySelector = new Set(['list', 'watch'])

/** The name in `fieldSelector=metadata.name=x`, where it can be one. */
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
 * A GET without a name is a list, a DELETE without one deletes the collection; `watch` in the query
 * makes it a watch.
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
