/**
 * A server's certificate that bears the name of its own issuer and does not name the key of its
 * signer, such as those that Knative's webhooks make. OpenSSL treats it as self-signed and looks
 * for no issuer; Go uses the signature. Here the signature decides who signed it. Where a trusted
 * authority did, the certificate itself may be trusted for as long as the whole chain is valid. Its
 * names are not checked: the caller does that.
 */
import { X509Certificate } from 'node:crypto'
import { Authorities, readBundle, serverAuth } from './authenticate/certificate-chain.ts'

/** What OpenSSL says of it. */
export const namesakeCode = 'DEPTH_ZERO_SELF_SIGNED_CERT'

export interface Namesake {
  readonly pem: string
  readonly notAfterMs: number
}

/** Nothing where no authority of the bundle signed it, or where it may not be used by a server. */
export function namesake(shown: Buffer, bundle: string, nowMs: number): Namesake | undefined {
  try {
    const certificate = new X509Certificate(shown)
    const verdict = new Authorities(readBundle(bundle, 'the bundle'), serverAuth).verify(
      certificate,
      [],
      nowMs,
    )
    if (verdict.ok) return { pem: certificate.toString(), notAfterMs: verdict.notAfter }
  } catch {
    // What cannot be read is no reason to trust.
  }
  return undefined
}
