/**
 * Handles a server certificate whose subject equals its issuer and that has no authority key
 * identifier, such as those of Knative's webhooks. OpenSSL treats it as self-signed and does not
 * look for an issuer; Go checks the signature.
 * This module checks the signature too. If a trusted authority signed the certificate, the caller
 * may trust it while the whole chain is valid. The caller checks the host name.
 */
import { X509Certificate } from 'node:crypto'
import { Authorities, readBundle, serverAuth } from './authenticate/certificate-chain.ts'

/** OpenSSL's error code for such a certificate. */
export const namesakeCode = 'DEPTH_ZERO_SELF_SIGNED_CERT'

export interface Namesake {
  readonly pem: string
  readonly notAfterMs: number
}

/**
 * Undefined if no authority of the bundle signed the certificate, or if it is not valid for
 * servers.
 */
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
    // A certificate that cannot be parsed is not trusted.
  }
  return undefined
}
