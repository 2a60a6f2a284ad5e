/** Certificates that the operator provides are checked, also before the first start. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { issueCertificate } from '#base/certificate.ts'
import { parseFlags, type Settings } from '#settings/flags.ts'
import { checkCertificates } from './certificates.ts'

const directory = mkdtempSync(join(tmpdir(), 'binnacle-doctor-'))
after(() => rmSync(directory, { recursive: true }))

const dayMs = 86_400_000
const startMs = Date.UTC(2026, 0, 1)
const certificateFile = join(directory, 'mine.crt')
const keyFile = join(directory, 'mine.key')

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
writeFileSync(
  certificateFile,
  issueCertificate(
    {
      subject: { commonName: 'mine' },
      usages: ['server'],
      publicKey,
      serial: Buffer.from([1]),
      notBeforeMs: startMs,
      notAfterMs: startMs + 30 * dayMs,
    },
    { privateKey },
  ),
)

function settingsOf(key: string): Settings {
  const parsed = parseFlags([
    `--data-dir=${directory}`,
    `--tls-cert-file=${certificateFile}`,
    `--tls-private-key-file=${key}`,
  ])
  assert.ok('settings' in parsed, JSON.stringify(parsed))
  return parsed.settings
}

const rows: [what: string, key: string, day: number, level: string, text: RegExp][] = [
  ['a good one', keyFile, 1, 'ok', /^--tls-cert-file is valid until 2026-01-31$/],
  ['one that ends soon', keyFile, 20, 'warn', /^--tls-cert-file is valid until .*renew it/],
  ['one that has ended', keyFile, 31, 'error', /^--tls-cert-file expired on 2026-01-31/],
  ['one of the future', keyFile, -1, 'error', /^--tls-cert-file is valid only from 2026-01-01/],
  ['one with an invalid key', certificateFile, 1, 'error', /holds no PEM private key/],
]
for (const [what, key, day, level, text] of rows) {
  test(`--tls-cert-file before the first start: ${what}`, () => {
    const [own, provided, ...more] = checkCertificates(settingsOf(key), startMs + day * dayMs)
    assert.deepEqual([own?.level, more], ['ok', []])
    assert.match(own?.text ?? '', /the first start makes them$/)
    assert.equal(provided?.level, level)
    assert.match(provided?.text ?? '', text)
  })
}
