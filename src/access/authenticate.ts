/**
 * The interface of authentication methods. Each method has a file under authenticate/; the first
 * method that recognises the client wins. A method returns undefined for credentials that it does
 * not recognise, and an error for credentials that it rejects. The error is logged without the
 * credential. The response is 401 if no other method succeeds.
 */
import type { X509Certificate } from 'node:crypto'
import type { User } from './user.ts'

export interface Credentials {
  /**
   * Headers by lower-case name. Headers that a method has consumed are removed before the request
   * continues. A repeated header is a list of values, never joined with commas, because names of
   * users and groups may contain commas.
   */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The bearer token without the prefix `Bearer`. Undefined if there is none. */
  readonly token: string | undefined
  /** The request path: the configuration can limit anonymous requests to certain paths. */
  readonly path?: string
  /** The client certificate from the TLS connection, not verified yet. It is parsed on demand. */
  certificate?(): X509Certificate | undefined
  /** Further certificates of the chain that the client sent. */
  intermediates?(): X509Certificate[]
}

/** Annotations that a method adds to the audit event. */
export type AuditAnnotations = Readonly<Record<string, string>>

export type AuthenticationResult =
  | {
      user: User
      audiences?: string[]
      /** Lower-case names of headers that were credentials. They must not be forwarded. */
      consumed?: readonly string[]
      annotations?: AuditAnnotations
      /** Texts for the Warning header. */
      warnings?: readonly string[]
    }
  | { refused: string; annotations?: AuditAnnotations }
  | undefined

export interface Authenticator {
  readonly name: string
  authenticate(credentials: Credentials): AuthenticationResult | Promise<AuthenticationResult>
}

/** A method that can verify a bare token. TokenReview uses it too. */
export interface TokenAuthenticator {
  readonly name: string
  /**
   * The token must be valid for at least one of `audiences`. An empty list means any audience. If
   * the method knows the audiences of a token, its result has those that match.
   */
  authenticateToken(
    token: string,
    audiences: readonly string[],
  ): AuthenticationResult | Promise<AuthenticationResult>
}
