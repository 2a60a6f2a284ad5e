/** URLs as Go's net/url parses them, and the functions that read them. */
import { goQuote } from '#api/go-syntax.ts'
import { ArrayList, mapOfEntries } from '#cel/collections.ts'
import type { Implementation } from '#cel/plan-call.ts'
import { CelError, OpaqueValue, overloadError, type Value } from '#cel/values.ts'

interface UrlParts {
  readonly scheme: string
  readonly user: string
  readonly host: string
  readonly opaque: string
  readonly path: string
  readonly query: string
  readonly fragment: string
}

class UrlValue extends OpaqueValue {
  readonly typeName = 'kubernetes.URL'
  readonly parts: UrlParts
  constructor(parts: UrlParts) {
    super()
    this.parts = parts
  }
  equals(other: Value): boolean | CelError {
    if (!(other instanceof UrlValue)) return overloadError(other)
    return JSON.stringify(this.parts) === JSON.stringify(other.parts)
  }
}

type Problem = { readonly problem: string }

const controls = /[\x00-\x1f\x7f]/

/**
 * With `request` the rules of url.ParseRequestURI, which needs an absolute URL or path and knows no
 * fragment.
 */
function parseParts(text: string, request: boolean): UrlParts | Problem {
  if (controls.test(text)) return { problem: 'net/url: invalid control character in URL' }
  if (text === '' && request) return { problem: 'empty url' }
  if (text.startsWith(':')) return { problem: 'missing protocol scheme' }
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1] ?? ''
  const afterScheme = scheme === '' ? text : text.slice(scheme.length + 1)
  const mark = afterScheme.indexOf('?')
  const query = mark < 0 ? '' : afterScheme.slice(mark + 1)
  let path = mark < 0 ? afterScheme : afterScheme.slice(0, mark)
  const parts = {
    scheme: scheme.toLowerCase(),
    user: '',
    host: '',
    opaque: '',
    query,
    fragment: '',
  }
  if (text === '*') return { ...parts, path: '*' }
  if (!path.startsWith('/')) {
    if (scheme !== '') return { ...parts, opaque: path, path: '' }
    if (request) return { problem: 'invalid URI for request' }
    if ((path.split('/')[0] as string).includes(':'))
      return { problem: 'first path segment in URL cannot contain colon' }
  }
  let authority = ''
  if ((scheme !== '' || (!request && !path.startsWith('///'))) && path.startsWith('//')) {
    const slash = path.indexOf('/', 2)
    authority = slash < 0 ? path.slice(2) : path.slice(2, slash)
    path = slash < 0 ? '' : path.slice(slash)
  }
  const server = parseAuthority(authority)
  if ('problem' in server) return server
  const escape = escapeProblem(path)
  return escape === undefined ? { ...parts, ...server, path } : { problem: escape }
}

function parseAuthority(text: string): { user: string; host: string } | Problem {
  const at = text.lastIndexOf('@')
  const host = text.slice(at + 1)
  const problem = hostProblem(host)
  if (problem !== undefined) return { problem }
  const user = at < 0 ? '' : text.slice(0, at)
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user))
    return { problem: 'net/url: invalid userinfo' }
  const escape = escapeProblem(user)
  if (escape !== undefined) return { problem: escape }
  return { user, host: unescape(host) }
}

function hostProblem(host: string): string | undefined {
  const bracket = host.lastIndexOf(']')
  if (host.startsWith('[') && bracket < 0) return "missing ']' in host"
  const colon = host.startsWith('[') ? bracket + 1 : host.lastIndexOf(':')
  const port = colon < 0 ? '' : host.slice(colon)
  if (!/^(?::[0-9]*)?$/.test(port)) return `invalid port ${goQuote(port)} after host`
  const escape = /%(?!25|[89a-fA-F][0-9a-fA-F]).{0,2}/.exec(host)
  if (escape !== null) return `invalid URL escape ${goQuote(escape[0])}`
  const wrong = /[ \\^`{|}/?#]/.exec(host)
  return wrong === null ? undefined : `invalid character ${goQuote(wrong[0])} in host name`
}

function escapeProblem(text: string): string | undefined {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text)
  return bad === null ? undefined : `invalid URL escape ${goQuote(bad[0])}`
}

/** Escapes replaced by their bytes. */
function unescape(text: string): string {
  if (!text.includes('%')) return text
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  )
}

/** What is wrong with a text as an absolute URL or path, in Go's words; undefined if nothing is. */
export function requestUriProblem(text: string): string | undefined {
  const parts = parseParts(text, true)
  return 'problem' in parts ? `parse ${goQuote(text)}: ${parts.problem}` : undefined
}

function parseUrl(text: string): Value {
  const context = 'URL parse error during conversion from string'
  const problem = requestUriProblem(text)
  if (problem !== undefined) return new CelError(`${context}: ${problem}`)
  const hash = text.indexOf('#')
  const before = hash < 0 ? text : text.slice(0, hash)
  const parts = parseParts(before, false)
  if ('problem' in parts)
    return new CelError(`${context}: parse ${goQuote(before)}: ${parts.problem}`)
  return new UrlValue({ ...parts, fragment: hash < 0 ? '' : text.slice(hash + 1) })
}

/** `[::1]:80` → `::1`, `host:80` → `host` */
function hostname(host: string): string {
  const bracket = host.lastIndexOf(']')
  if (host.startsWith('[') && bracket > 0) return host.slice(1, bracket)
  const colon = host.lastIndexOf(':')
  return colon < 0 ? host : host.slice(0, colon)
}

const port = (host: string): string => /:([0-9]*)$/.exec(host)?.[1] ?? ''

/** The path as written if it is a valid encoding, else encoded anew. */
function escapedPath(path: string): string {
  if (/^[A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]%]*$/.test(path)) return path
  const bytes = Buffer.from(unescape(path))
  let out = ''
  for (const byte of bytes) {
    const ch = String.fromCharCode(byte)
    const plain = byte < 0x80 && /[A-Za-z0-9\-_.~$&+,/:;=@]/.test(ch)
    out += plain ? ch : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return out
}

/** Parameters of the query. Go ignores those with a semicolon or a wrong escape. */
function query(text: string): Value {
  const found = new Map<string, string[]>()
  for (const pair of text.split('&')) {
    if (pair === '' || pair.includes(';') || escapeProblem(pair) !== undefined) continue
    const equals = pair.indexOf('=')
    const [key, value] = (
      equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]
    ).map((part) => unescape(part.replaceAll('+', ' '))) as [string, string]
    found.set(key, [...(found.get(key) ?? []), value])
  }
  return mapOfEntries([...found].map(([key, values]) => [key, new ArrayList(values)]))
}

const getter =
  (read: (parts: UrlParts) => Value): Implementation =>
  (url) =>
    url instanceof UrlValue ? read(url.parts) : overloadError(url)

export const urlImplementations: readonly (readonly [string, Implementation])[] = [
  ['string_to_url', (text) => parseUrl(text as string)],
  ['is_url_string', (text) => requestUriProblem(text as string) === undefined],
  ['url_get_scheme', getter(({ scheme }) => scheme)],
  ['url_get_host', getter(({ host }) => host)],
  ['url_get_hostname', getter(({ host }) => hostname(host))],
  ['url_get_port', getter(({ host }) => port(host))],
  ['url_get_escaped_path', getter(({ path }) => escapedPath(path))],
  ['url_get_query', getter((parts) => query(parts.query))],
]
