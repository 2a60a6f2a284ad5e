/**
 * Checks certificates once a day, so that a long-running server never presents an expired one. It
 * also checks soon after the clock was set or the operator changed a provided file. A failure, such
 * as a full disk or an invalid file, is reported and retried the next day; the old certificates
 * stay in use.
 */
import { statSync } from 'node:fs'
import { type Clock, systemClock } from '#base/clock.ts'
import type { Certificates } from './certificates.ts'

const dayMs = 24 * 3_600_000
/** How often the wall clock is checked: an adjusted clock can make certificates expire at once. */
const lookIntervalMs = 60_000

export interface Renewal {
  /** Checks now. Returns the certificates to use from now on. */
  check(): Certificates
  stop(): void
}

/**
 * `ensure` renews certificates if necessary. `changed` receives certificates that differ from those
 * in use; it passes them to the listener (`server.setSecureContext`) and the kubeconfig.
 */
export function renewDaily(
  inUse: Certificates,
  ensure: () => Certificates,
  changed: (fresh: Certificates) => void,
  failed: (error: Error) => void,
  clock: Clock = systemClock,
  /** Files that the operator provides and renews. */
  given: readonly string[] = [],
): Renewal {
  let current = inUse
  let found = stampOf(given)
  let checkedAt = clock.now()
  const check = () => {
    checkedAt = clock.now()
    try {
      const fresh = ensure()
      const same =
        fresh.serving.certificatePem === current.serving.certificatePem &&
        fresh.admin.certificatePem === current.admin.certificatePem &&
        fresh.ca.certificatePem === current.ca.certificatePem &&
        fresh.named.every((one, i) => one.certificatePem === current.named[i]?.certificatePem)
      if (same) return current
      changed(fresh)
      current = fresh
    } catch (error) {
      failed(error as Error)
    }
    return current
  }
  const timer = setInterval(() => {
    const passedMs = clock.now() - checkedAt
    const before = found
    found = stampOf(given)
    if (passedMs >= dayMs || passedMs < -lookIntervalMs || found !== before) check()
  }, lookIntervalMs)
  timer.unref()
  return { check, stop: () => clearInterval(timer) }
}

/** Identifies the current state of the files. A file that cannot be read counts as missing. */
const stampOf = (paths: readonly string[]): string =>
  paths
    .map((path) => {
      try {
        const { ino, size, mtimeMs } = statSync(path)
        return `${ino} ${size} ${mtimeMs}`
      } catch {
        return ''
      }
    })
    .join()
