/** Whether a signer honoured the requested duration approximately. */
import { X509Certificate } from 'node:crypto'
import type { KubeObject } from '#api/object-meta.ts'

/**
 * The tolerance: five minutes, because signers backdate certificates for clock differences, and a
 * twentieth of the requested duration.
 */
const differenceMsMax = (wantedMs: number): number => 5 * 60_000 + wantedMs / 20

/**
 * The signer, and the result for the requested duration; undefined without one, or if no
 * certificate has just been issued.
 */
export function requestedDuration(
  next: KubeObject,
  old: KubeObject,
): { readonly signer: string; readonly honored: boolean } | undefined {
  const { expirationSeconds, signerName = '' } = old.spec ?? {}
  const certificate = next.status?.certificate
  if (!certificate || old.status?.certificate || expirationSeconds === undefined) return undefined
  const signer = signerName.startsWith('kubernetes.io/') ? signerName : 'other'
  const wantedMs = expirationSeconds * 1000
  const difference = Math.abs(wantedMs - lifeMsOf(certificate))
  return { signer, honored: difference < differenceMsMax(wantedMs) }
}

/** The lifetime of the first certificate; NaN if it cannot be read. */
function lifeMsOf(certificate: string): number {
  try {
    const { validFrom, validTo } = new X509Certificate(Buffer.from(certificate, 'base64'))
    return Date.parse(validTo) - Date.parse(validFrom)
  } catch {
    return Number.NaN
  }
}
