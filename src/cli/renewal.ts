/**
 * Certificates looked at once a day while the server runs, so that one that never stops never shows an expired one.
 * A failure (a full disk, a garbled file) is told and tried again the next day; the old certificates stay in use.
 */
import type { Certificates } from './certificates.ts'

const dayMs = 24 * 3_600_000

export interface Renewal {
  /** Looks now; gives what is in use from here on. */
  check(): Certificates
  stop(): void
}

/**
 * `ensure` makes what is due; `changed` hears of certificates that differ from those in use, and lays them into the
 * listener (`server.setSecureContext`) and the kubeconfig.
 */
export function renewDaily(
  inUse: Certificates,
  ensure: () => Certificates,
  changed: (fresh: Certificates) => void,
  failed: (error: Error) => void,
): Renewal {
  let current = inUse
  const check = () => {
    try {
      const fresh = ensure()
      const same =
        fresh.serving.certificatePem === current.serving.certificatePem &&
        fresh.admin.certificatePem === current.admin.certificatePem &&
        fresh.ca.certificatePem === current.ca.certificatePem
      if (same) return current
      current = fresh
      changed(fresh)
    } catch (error) {
      failed(error as Error)
    }
    return current
  }
  const timer = setInterval(check, dayMs)
  timer.unref()
  return { check, stop: () => clearInterval(timer) }
}
