/**
 * Checks the certificates and keys of a data directory: dates, whether they match, and which users
 * can read the keys.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { authorityPath, certificateDirectory } from '#server/certificates.ts'
import { type Loaded, loadPair } from '#server/key-pair.ts'
import { readIfThere } from '#server/private-files.ts'
import type { Settings } from '#settings/flags.ts'
import type { Finding } from './finding.ts'

const dayMs = 24 * 3_600_000
/**
 * When to warn about expiry. Servers renew their own certificates much earlier; the operator must
 * renew provided ones.
 */
const warnBeforeMs = 14 * dayMs
const othersMode = 0o077

const area = 'certificates'

export function checkCertificates(settings: Settings, nowMs: number): Finding[] {
  const { tlsCertFile, tlsPrivateKeyFile } = settings
  const own = checkOwn(settings, nowMs)
  if (tlsCertFile === undefined || tlsPrivateKeyFile === undefined) return own
  return [...own, ...checkPair('--tls-cert-file', tlsCertFile, tlsPrivateKeyFile, nowMs)]
}

/** The pairs that the server makes itself. */
function checkOwn(settings: Settings, nowMs: number): Finding[] {
  const directory = certificateDirectory(settings)
  if (readIfThere(authorityPath(settings)) === undefined)
    return [{ level: 'ok', area, text: `none in ${directory}: the first start makes them` }]
  return [
    ...['ca', 'apiserver', 'admin'].flatMap((name) =>
      checkPair(
        `${name}.crt`,
        join(directory, `${name}.crt`),
        join(directory, `${name}.key`),
        nowMs,
      ),
    ),
    ...readdirSync(directory)
      .filter((name) => name.endsWith('.key'))
      .flatMap((name) => checkMode(join(directory, name))),
  ]
}

function checkPair(name: string, certificate: string, key: string, nowMs: number): Finding[] {
  let loaded: Loaded | undefined
  try {
    loaded = loadPair(certificate, key)
  } catch (error) {
    return [{ level: 'error', area, text: (error as Error).message }]
  }
  if (loaded === undefined) return []
  const from = Date.parse(loaded.certificate.validFrom)
  const to = Date.parse(loaded.certificate.validTo)
  const day = new Date(to).toISOString().slice(0, 10)
  if (nowMs < from)
    return [
      {
        level: 'error',
        area: 'clock',
        text: `${name} is valid only from ${new Date(from).toISOString()}: set the clock of this machine`,
      },
    ]
  if (nowMs > to)
    return [
      { level: 'error', area, text: `${name} expired on ${day}: renew it, or start the server` },
    ]
  const level = to - nowMs < warnBeforeMs ? 'warn' : 'ok'
  const advice = level === 'warn' ? ': renew it, or start the server' : ''
  return [{ level, area, text: `${name} is valid until ${day}${advice}` }]
}

function checkMode(path: string): Finding[] {
  if ((statSync(path).mode & othersMode) === 0) return []
  const text = `${path} can be read by other users: chmod 600 ${path}`
  return [{ level: 'warn', area, text }]
}
