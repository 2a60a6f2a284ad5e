/**
 * Authenticates client certificates: the common name is the user name, the organizations are its
 * groups. Newer releases also read a uid. Results are cached by certificate while the whole chain
 * is valid, so only a client's first request is verified completely.
 */
import type { X509Certificate } from 'node:crypto'
import { type Clock, elapsedMs } from '#base/clock.ts'
import type { Authenticator, Credentials, AuthenticationResult } from '#access/authenticate.ts'
import type { User } from '#access/user.ts'
import { change, type Release } from '#api/releases/change.ts'
import type { Authorities, ChainVerdict } from './certificate-chain.ts'

const showsFingerprint = change('the fingerprint of a client certificate is its credential-id', {
  since: 32,
})
const uidGate = 'AllowParsingUserUIDFromCertAuth'

/** Number of cached clients; each uses a few hundred bytes. */
const rememberedMax = 10_000

/**
 * How long a rejection is cached. A client sends the same certificate with each request of a
 * connection.
 */
const refusedMs = 10_000

type Accepted = ChainVerdict & { ok: true }
interface Refused {
  readonly verdict: ChainVerdict
  readonly untilMs: number
}

/** Verifies the certificate of a client; uses a cached result if there is one. */
export class CertificateVerifier {
  #authorities: Authorities
  readonly #clock: Clock
  #byObject = new WeakMap<X509Certificate, Accepted>()
  readonly #byFingerprint = new Map<string, Accepted>()
  #refused = new WeakMap<X509Certificate, Refused>()

  constructor(authorities: Authorities, clock: Clock) {
    this.#authorities = authorities
    this.#clock = clock
  }

  /** Replaces the trusted authorities. */
  trust(authorities: Authorities): void {
    this.#authorities = authorities
    this.#byObject = new WeakMap()
    this.#byFingerprint.clear()
    this.#refused = new WeakMap()
  }

  verify(certificate: X509Certificate, intermediates: () => X509Certificate[]): ChainVerdict {
    const now = this.#clock.now()
    const known = this.#byObject.get(certificate)
    if (known !== undefined && isCurrent(known, now)) return known
    const fingerprint = certificate.fingerprint256
    const seen = this.#byFingerprint.get(fingerprint)
    if (seen !== undefined && isCurrent(seen, now)) {
      this.#byObject.set(certificate, seen)
      return seen
    }
    this.#byFingerprint.delete(fingerprint)
    const elapsed = elapsedMs(this.#clock)
    const refused = this.#refused.get(certificate)
    if (refused !== undefined && elapsed < refused.untilMs) return refused.verdict
    const verdict = this.#authorities.verify(certificate, intermediates(), now)
    if (!verdict.ok) {
      this.#refused.set(certificate, { verdict, untilMs: elapsed + refusedMs })
      return verdict
    }
    if (this.#byFingerprint.size >= rememberedMax) this.#byFingerprint.clear()
    this.#byFingerprint.set(fingerprint, verdict)
    this.#byObject.set(certificate, verdict)
    return verdict
  }
}

const isCurrent = ({ notBefore, notAfter }: Accepted, now: number): boolean =>
  notBefore <= now && now <= notAfter

export interface CertificateUserOptions {
  readonly release: Release
  readonly feature: (gate: string) => boolean
}

export class ClientCertificateAuthenticator implements Authenticator {
  readonly name = 'client-certificate'
  readonly #options: CertificateUserOptions
  readonly #verifier: CertificateVerifier
  readonly #users = new WeakMap<ChainVerdict, User>()

  constructor(authorities: Authorities, clock: Clock, options: CertificateUserOptions) {
    this.#verifier = new CertificateVerifier(authorities, clock)
    this.#options = options
  }

  trust(authorities: Authorities): void {
    this.#verifier.trust(authorities)
  }

  authenticate(credentials: Credentials): AuthenticationResult {
    const certificate = credentials.certificate?.()
    if (certificate === undefined) return undefined
    const verdict = this.#verifier.verify(certificate, () => credentials.intermediates?.() ?? [])
    if (!verdict.ok)
      return {
        refused: `verifying certificate SN=${certificate.serialNumber} failed: x509: ${verdict.why}`,
      }
    const { commonName, organizations, uids } = verdict.leaf
    if (commonName === '') return undefined
    const { release, feature } = this.#options
    const readsUid = feature(uidGate)
    const problem = readsUid ? uidProblem(uids) : undefined
    if (problem !== undefined) return { refused: problem }
    let user = this.#users.get(verdict)
    if (user === undefined) {
      const uid = readsUid ? (uids[0] ?? '') : ''
      const extra = release.has(showsFingerprint) ? credentialId(certificate) : {}
      user = { name: commonName, uid, groups: organizations, extra }
      this.#users.set(verdict, user)
    }
    return { user }
  }
}

function uidProblem(uids: readonly string[]): string | undefined {
  if (uids.length > 1) return `expected 1 UID, but found multiple: [${uids.join(' ')}]`
  return uids[0] === '' ? 'UID cannot be an empty string' : undefined
}

const credentialId = ({ fingerprint256 }: X509Certificate): Record<string, string[]> => ({
  'authentication.kubernetes.io/credential-id': [
    `X509SHA256=${fingerprint256.replaceAll(':', '').toLowerCase()}`,
  ],
})
