/**
 * The authenticating proxy: a front proxy authenticates the user and passes the name in headers.
 * The headers are trusted only if the proxy's client certificate is signed by the request header
 * CA. If allowed names are configured, the certificate must have one of them.
 */
import type { Clock } from '#base/clock.ts'
import type { Authenticator, Credentials, AuthenticationResult } from '#access/authenticate.ts'
import type { Authorities } from './certificate-chain.ts'
import { CertificateVerifier } from './client-certificate.ts'
import { allTexts, append, firstText, unescapedKey } from './header-values.ts'

export interface RequestHeaderSettings {
  /** Allowed common names of proxies. Empty: any certificate that the request header CA signed. */
  readonly allowedNames: readonly string[]
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraHeaderPrefixes: readonly string[]
}

export class RequestHeaderAuthenticator implements Authenticator {
  readonly name = 'request-header'
  readonly #verifier: CertificateVerifier
  readonly #settings: RequestHeaderSettings

  constructor(authorities: Authorities, settings: RequestHeaderSettings, clock: Clock) {
    this.#verifier = new CertificateVerifier(authorities, clock)
    this.#settings = {
      allowedNames: settings.allowedNames,
      usernameHeaders: settings.usernameHeaders.map(headerName),
      uidHeaders: settings.uidHeaders.map(headerName),
      groupHeaders: settings.groupHeaders.map(headerName),
      extraHeaderPrefixes: settings.extraHeaderPrefixes.map(headerName),
    }
  }

  trust(authorities: Authorities): void {
    this.#verifier.trust(authorities)
  }

  /**
   * Whether a header identifies a user. The server removes such headers from requests that do not
   * come from a trusted proxy.
   */
  isIdentityHeader(name: string): boolean {
    const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = this.#settings
    return (
      usernameHeaders.includes(name) ||
      uidHeaders.includes(name) ||
      groupHeaders.includes(name) ||
      extraHeaderPrefixes.some((prefix) => name.startsWith(prefix))
    )
  }

  authenticate(credentials: Credentials): AuthenticationResult {
    const certificate = credentials.certificate?.()
    if (certificate === undefined) return undefined
    const { headers } = credentials
    const verdict = this.#verifier.verify(certificate, () => credentials.intermediates?.() ?? [])
    if (!verdict.ok) return { refused: `x509: ${verdict.why}` }
    const { allowedNames, usernameHeaders, uidHeaders, groupHeaders } = this.#settings
    const { commonName } = verdict.leaf
    if (allowedNames.length > 0 && !allowedNames.includes(commonName))
      return { refused: `x509: subject with cn=${commonName} is not in the allowed list` }
    const first = (names: readonly string[]) =>
      names.map((header) => firstText(headers[header]) ?? '').find(Boolean)
    const name = first(usernameHeaders)
    if (name === undefined) return undefined
    const uid = first(uidHeaders) ?? ''
    const groups = groupHeaders.flatMap((header) => allTexts(headers[header])).filter(Boolean)
    const consumed = Object.keys(headers).filter((header) => this.isIdentityHeader(header))
    return { user: { name, uid, groups, extra: this.#extra(headers) }, consumed }
  }

  #extra(headers: Credentials['headers']): Record<string, string[]> {
    const extra: Record<string, string[]> = {}
    for (const prefix of this.#settings.extraHeaderPrefixes)
      for (const [name, value] of Object.entries(headers))
        if (name.startsWith(prefix))
          append(extra, unescapedKey(name.slice(prefix.length)), allTexts(value))
    return extra
  }
}

function headerName(name: string): string {
  const trimmed = name.trim().toLowerCase()
  if (trimmed === '') throw new Error(`empty header ${JSON.stringify(name)}`)
  return trimmed
}
