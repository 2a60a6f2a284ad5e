/**
 * Makes the request from a list of header fields (RFC 9113, section 8). Each pseudo-header occurs
 * once, before all others. Names are in lower case, and connection headers are not allowed. A list
 * that breaks these rules is malformed.
 */
export interface RequestHead {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Alternating names and values, as sent. */
  readonly list: readonly string[]
}

/**
 * The fields of one block, and the request head if they are valid. Requests with the same block
 * share it.
 */
export interface HeaderFields {
  readonly list: readonly string[]
  readonly head: RequestHead | undefined
}

type NameClass = 'plain' | 'pseudo' | 'single' | 'refused'

const pseudoNames = new Set([':method', ':scheme', ':path', ':authority'])
const connectionNames = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])
/** The first value of these headers is used; repeated values of all others are joined. */
const singleNames = new Set([
  'authorization',
  'content-length',
  'content-type',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'user-agent',
])
const nameForm = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
/**
 * Characters that no HTTP/1.1 header can contain, because some requests are forwarded in HTTP/1.1.
 */
const controlCharacters = /[\0-\x08\n-\x1f\x7f]/
const schemes = new Set<string | undefined>(['https', 'http'])

/** A cache of valid names: almost all requests have the same few names. */
const classes = new Map<string, NameClass>()
const classesMax = 500

function classOf(name: string): NameClass {
  const known = classes.get(name)
  if (known !== undefined) return known
  const found: NameClass = pseudoNames.has(name)
    ? 'pseudo'
    : connectionNames.has(name) || !nameForm.test(name)
      ? 'refused'
      : singleNames.has(name)
        ? 'single'
        : 'plain'
  if (classes.size < classesMax) classes.set(name, found)
  return found
}

/** Returns undefined if the fields are not a valid request. */
export function requestHead(list: readonly string[]): RequestHead | undefined {
  const headers = Object.create(null) as Record<string, string>
  let begun = false
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] as string
    const value = list[i + 1] as string
    const is = classOf(name)
    if (is === 'refused' || controlCharacters.test(value)) return undefined
    const before = headers[name]
    if (is === 'pseudo') {
      if (begun || before !== undefined) return undefined
    } else begun = true
    if (before === undefined) headers[name] = value
    else if (is === 'plain') headers[name] = `${before}${name === 'cookie' ? '; ' : ', '}${value}`
  }
  const method = headers[':method']
  const path = headers[':path']
  if (method === undefined || method === '' || !schemes.has(headers[':scheme'])) return undefined
  if (path === undefined || !(path.startsWith('/') || path === '*')) return undefined
  if (headers.te !== undefined && headers.te !== 'trailers') return undefined
  return { method, path, headers, list }
}

export const fieldsOf = (list: readonly string[]): HeaderFields => ({
  list,
  head: requestHead(list),
})

/**
 * Whether the fields are valid trailers, which must not contain pseudo-headers. No handler uses
 * them.
 */
export const areTrailers = (list: readonly string[]): boolean =>
  list.every((name, index) => index % 2 === 1 || ['plain', 'single'].includes(classOf(name)))
