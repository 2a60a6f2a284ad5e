/**
 * `binnacle kubeconfig` writes a kubeconfig with a client certificate for a user and groups, signed
 * by the server's own authority. The server may run. It grants nothing: RBAC decides what the user
 * may do.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  X509Certificate,
} from 'node:crypto'
import { resolve } from 'node:path'
import { parseDuration } from '#api/duration.ts'
import { issueCertificate } from '#base/certificate.ts'
import { systemClock } from '#base/clock.ts'
import { CannotStart } from '#server/cannot-start.ts'
import { authorityPath, ensureCertificates } from '#server/certificates.ts'
import { type KubeconfigUser, kubeconfigText, listeningUrl } from '#server/kubeconfig.ts'
import type { KeyPair } from '#server/key-pair.ts'
import { readIfThere, writePrivateFile } from '#server/private-files.ts'
import type { GivenCommand } from './command.ts'

const dayMs = 24 * 3_600_000
const lifeMsInitial = 365 * dayMs
/** Clients with a clock that is slightly behind must accept the certificate. */
const backdatedMs = 5 * 60_000
const nanosPerMs = 1e6

export function writeUserKubeconfig({ options, flags }: GivenCommand): void {
  const { settings } = flags
  const one = (name: string) => options.get(name)?.[0]
  const [user = ''] = options.get('user') ?? []
  const authority = authorityPath(settings)
  if (readIfThere(authority) === undefined)
    throw new CannotStart(
      `${authority} does not exist: start the server once with the same --data-dir`,
    )
  const { ca, trustPem } = ensureCertificates(settings, systemClock)
  const certificate = issueFor(user, options.get('group') ?? [], ca, lifeMsOf(one('expires')))
  const text = kubeconfigText(one('server') ?? listeningUrl(flags), trustPem, certificate)
  const output = one('output')
  if (output === undefined) process.stdout.write(text)
  else {
    writePrivateFile(resolve(output), text)
    process.stdout.write(`wrote ${output} for ${user}\n`)
  }
}

/** Parses `30d` as well as Go's `12h30m`. */
function lifeMsOf(text: string | undefined): number {
  if (text === undefined) return lifeMsInitial
  const days = /^(\d+)d$/.exec(text)?.[1]
  const ms = days === undefined ? Number(parseDuration(text) ?? -1n) / nanosPerMs : +days * dayMs
  if (ms > 0) return ms
  throw new CannotStart(`--expires: ${JSON.stringify(text)} is not a time such as 12h or 30d`)
}

function issueFor(
  user: string,
  groups: readonly string[],
  authority: KeyPair,
  lifeMs: number,
): KubeconfigUser {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signer = new X509Certificate(authority.certificatePem)
  const nowMs = systemClock.now()
  const certificatePem = issueCertificate(
    {
      subject: { commonName: user, organizations: groups },
      usages: ['client'],
      publicKey: createPublicKey(privateKey),
      serial: randomBytes(16),
      notBeforeMs: nowMs - backdatedMs,
      // The certificate must not outlive its authority, because it would be rejected from then on.
      notAfterMs: Math.min(nowMs + lifeMs, Date.parse(signer.validTo)),
    },
    { privateKey: createPrivateKey(authority.keyPem), certificate: signer },
  )
  const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  return { name: user, certificatePem, keyPem }
}
