/**
 * The contract of authentication. One method per file under authenticate/; the first that knows the
 * caller wins. A method that does not recognise the credentials answers undefined; one that
 * recognises and refuses them answers with an error, which is logged (without the credential) and
 * means 401 if no other method succeeds.
 */
import type { X509Certificate } from 'node:crypto'
import type { User } from './user.ts'

export interface Credentials {
  /**
   * Lower-case names. A filter removes from what goes on whatever a method has consumed. A header
   * sent several times is a list of its values, never one text joined by commas: names of users and
   * groups may contain commas.
   */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The bearer token, without the word Bearer; undefined where there is none. */
  readonly token: string | undefined
  /** The path of the request: anonymous requests can be limited to some. */
  readonly path?: string
  /**
   * The client's certificate as the TLS layer got it, not yet verified against any authority;
   * parsed on demand.
   */
  certificate?(): X509Certificate | undefined
  /** Further certificates of the chain the client sent. */
  intermediates?(): X509Certificate[]
}

/** What a successful method leaves for the audit event, by annotation. */
export type AuditAnnotations = Readonly<Record<string, string>>

export type AuthenticationResult =
  | {
      user: User
      audiences?: string[]
      /** Lower-case names of headers that served as credentials and must go no further. */
      consumed?: readonly string[]
      annotations?: AuditAnnotations
    }
  | { refused: string }
  | undefined

export interface Authenticator {
  readonly name: string
  authenticate(credentials: Credentials): AuthenticationResult | Promise<AuthenticationResult>
}

/** What can check a bare token: used by TokenReview as well. */
export interface TokenAuthenticator {
  readonly name: string
  /**
   * `audiences`: those the token must be meant for, at least one of them. None means that the
   * caller requires no audience. The result of a method that knows the audiences of its tokens
   * names those that match.
   */
  authenticateToken(
    token: string,
    audiences: readonly string[],
  ): AuthenticationResult | Promise<AuthenticationResult>
}
