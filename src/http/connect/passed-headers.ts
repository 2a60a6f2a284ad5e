/** Selects the headers to forward. Hop-by-hop headers and headers that name a user are dropped. */
import { withoutTokenProtocol } from '#access/authenticate/bearer.ts'
import type { AnswerHeaders, Exchange, Headers } from '#http/exchange.ts'

const hopByHop = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
])

/** The backend must not set the headers for browsers about origins. */
const originHeaders = new Set([
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
])

export type IsIdentityHeader = (name: string) => boolean

/** Headers by which a proxy names the user, whether or not this server trusts any. */
const saysWho = (name: string) =>
  name === 'authorization' || name.startsWith('impersonate-') || name.startsWith('x-remote-')

const listed = (headers: Headers) =>
  new Set(
    [headers.connection ?? []]
      .flat()
      .flatMap((text) => text.split(','))
      .map((name) => name.trim().toLowerCase()),
  )

export type PassedHeaders = Record<string, string | string[]>

export function requestHeaders(
  { wire }: Exchange,
  isIdentityHeader: IsIdentityHeader,
  upgrading: boolean,
): PassedHeaders {
  const passed: PassedHeaders = Object.create(null)
  const headers = wire.separateHeaders
  const named = listed(headers)
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(':') || saysWho(name) || isIdentityHeader(name))
      continue
    const kept = upgrading && (name === 'connection' || name === 'upgrade')
    if (!kept && (hopByHop.has(name) || (!upgrading && named.has(name)))) continue
    passed[name] = value
  }
  const protocols = passed['sec-websocket-protocol']
  if (protocols !== undefined) {
    // A subprotocol may contain the client's token, so it is removed.
    const others = withoutTokenProtocol(protocols)
    if (others === '') delete passed['sec-websocket-protocol']
    else passed['sec-websocket-protocol'] = others
  }
  passed.host ??= String(headers[':authority'] ?? headers.host ?? '')
  const before = passed['x-forwarded-for']
  const from = wire.remoteAddress.replace(/^::ffff:/, '')
  passed['x-forwarded-for'] = before === undefined ? from : `${[before].flat().join(', ')}, ${from}`
  return passed
}

export function answeredHeaders(headers: Headers): AnswerHeaders {
  const named = listed(headers)
  const passed: AnswerHeaders = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || hopByHop.has(name) || named.has(name) || originHeaders.has(name))
      continue
    passed[name] = value
  }
  return passed
}
