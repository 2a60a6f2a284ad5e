/**
 * Tokens in requests: the Authorization header, and, for web sockets, a subprotocol. Other files
 * verify them.
 */
import { after } from '#base/awaitable.ts'
import type {
  Authenticator,
  Credentials,
  TokenAuthenticator,
  AuthenticationResult,
} from '#access/authenticate.ts'
import { byText } from '#base/by-text.ts'
import { allValues, firstValue } from './header-values.ts'

/**
 * The maximum length of a token: far more than providers issue, and little enough to process
 * quickly.
 */
export const tokenLengthMax = 64 * 1024

const invalidToken: AuthenticationResult = { refused: 'invalid bearer token' }

/** The token of an Authorization header; undefined if the header has another scheme or no token. */
export function bearerToken(authorization: string | string[] | undefined): string | undefined {
  const header = firstValue(authorization)
  return header === undefined ? undefined : tokenIn(header) || undefined
}

const tokenIn = byText((header: string): string => {
  const [scheme = '', token = ''] = header.trim().split(' ', 2)
  return scheme.toLowerCase() === 'bearer' ? token : ''
})

/** Reject an unknown token: its sender must not become the anonymous user. */
function verify(
  token: string,
  consumed: string,
  tokens: TokenAuthenticator,
  audiences: readonly string[],
): AuthenticationResult | Promise<AuthenticationResult> {
  if (token.length > tokenLengthMax) return invalidToken
  return after(tokens.authenticateToken(token, audiences), (verdict) => {
    if (verdict === undefined) return invalidToken
    return 'user' in verdict ? { ...verdict, consumed: [consumed] } : verdict
  })
}

export class BearerAuthenticator implements Authenticator {
  readonly name = 'bearer'
  readonly #tokens: TokenAuthenticator
  readonly #audiences: readonly string[]

  constructor(tokens: TokenAuthenticator, audiences: readonly string[]) {
    this.#tokens = tokens
    this.#audiences = audiences
  }

  authenticate({ token }: Credentials): AuthenticationResult | Promise<AuthenticationResult> {
    if (token === undefined || token === '') return undefined
    return verify(token, 'authorization', this.#tokens, this.#audiences)
  }
}

const protocolPrefix = 'base64url.bearer.authorization.k8s.io.'
const protocolHeader = 'sec-websocket-protocol'

const isTokenProtocol = (protocol: string) => protocol.startsWith(protocolPrefix)
const protocols = (header: string | string[] | undefined): string[] =>
  allValues(header).flatMap((value) => value.split(',').map((one) => one.trim()))

/** The header's remaining subprotocols, for the code that accepts the web socket. */
export const withoutTokenProtocol = (header: string | string[] | undefined): string =>
  protocols(header)
    .filter((protocol) => !isTokenProtocol(protocol))
    .join(',')

/**
 * Browsers cannot set headers on a web socket, so they send the token as a subprotocol, in
 * base64url.
 */
export class WebSocketAuthenticator implements Authenticator {
  readonly name = 'websocket'
  readonly #tokens: TokenAuthenticator
  readonly #audiences: readonly string[]

  constructor(tokens: TokenAuthenticator, audiences: readonly string[]) {
    this.#tokens = tokens
    this.#audiences = audiences
  }

  authenticate({ headers }: Credentials): AuthenticationResult | Promise<AuthenticationResult> {
    const header = headers[protocolHeader]
    if (header === undefined || !isWebSocket(headers)) return undefined
    const [carrier, second] = protocols(header).filter(isTokenProtocol)
    if (carrier === undefined) return undefined
    if (second !== undefined)
      return { refused: 'multiple base64.bearer.authorization tokens specified' }
    const encoded = carrier.slice(protocolPrefix.length)
    if (!/^[A-Za-z0-9_-]*$/.test(encoded) || encoded.length % 4 === 1)
      return { refused: 'invalid base64.bearer.authorization token encoding' }
    const bytes = Buffer.from(encoded, 'base64url')
    const token = bytes.toString('utf8')
    if (!Buffer.from(token).equals(bytes))
      return { refused: 'invalid base64.bearer.authorization token' }
    if (token === '') return undefined
    if (protocols(header).every(isTokenProtocol))
      return { refused: 'missing additional subprotocol' }
    return verify(token, protocolHeader, this.#tokens, this.#audiences)
  }
}

const isWebSocket = (headers: Credentials['headers']): boolean =>
  /(^|[^a-z])upgrade($|[^a-z])/i.test(allValues(headers.connection).join(',')) &&
  firstValue(headers.upgrade)?.toLowerCase() === 'websocket'
