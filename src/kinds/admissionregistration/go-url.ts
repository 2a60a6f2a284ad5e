/** Parses URLs like Go's url.Parse, which is stricter than browsers, with its error messages. */
import { goQuote } from '#api/go-syntax.ts'

export interface GoUrl {
  readonly scheme: string
  readonly user: string | undefined
  readonly host: string
  readonly query: string
  readonly fragment: string
}

export type ParsedUrl = { ok: true; url: GoUrl } | { ok: false; problem: string }

export function parseGoUrl(text: string): ParsedUrl {
  const problem = (why: string): ParsedUrl => ({
    ok: false,
    problem: `parse ${goQuote(text)}: ${why}`,
  })
  if (/[\x00-\x1f\x7f]/.test(text)) return problem('net/url: invalid control character in URL')
  const hash = text.indexOf('#')
  const fragment = hash < 0 ? '' : text.slice(hash + 1)
  const beforeHash = hash < 0 ? text : text.slice(0, hash)
  const scheme = schemeOf(beforeHash)
  if (scheme === undefined) return problem('missing protocol scheme')
  const afterScheme = scheme === '' ? beforeHash : beforeHash.slice(scheme.length + 1)
  const mark = afterScheme.indexOf('?')
  const query = mark < 0 ? '' : afterScheme.slice(mark + 1)
  const rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark)
  const none = { scheme: scheme.toLowerCase(), user: undefined, host: '', query, fragment }
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ok: true, url: none }
    if (rest.split('/')[0]?.includes(':')) {
      return problem('first path segment in URL cannot contain colon')
    }
  }
  const badEscape = escapeProblem(rest)
  if (badEscape !== undefined) return problem(badEscape)
  if (!rest.startsWith('//') || rest.startsWith('///')) return { ok: true, url: none }
  const [authority = ''] = rest.slice(2).split('/')
  const at = authority.lastIndexOf('@')
  const user = at < 0 ? undefined : authority.slice(0, at)
  const host = authority.slice(at + 1)
  const badHost = hostProblem(host)
  if (badHost !== undefined) return problem(badHost)
  return { ok: true, url: { ...none, user, host } }
}

/** The scheme before a colon. Empty without a scheme; undefined if the text begins with a colon. */
function schemeOf(text: string): string | undefined {
  const match = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)
  if (match !== null) return match[1]
  return text.startsWith(':') ? undefined : ''
}

function escapeProblem(text: string): string | undefined {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text)
  return bad === null ? undefined : `invalid URL escape ${goQuote(bad[0])}`
}

function hostProblem(host: string): string | undefined {
  const bad = /[ <>"\\^`{|}]/.exec(host)
  if (bad !== null) return `invalid character ${goQuote(bad[0])} in host name`
  if (host.startsWith('[') && !host.includes(']')) return "missing ']' in host"
  const port = host.startsWith('[') ? host.slice(host.indexOf(']') + 1) : host.replace(/^[^:]*/, '')
  if (port !== '' && !/^:[0-9]*$/.test(port)) return `invalid port ${goQuote(port)} after host`
  return undefined
}
