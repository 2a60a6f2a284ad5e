/**
 * Approved certificate requests for one of the built-in signers are signed by the built-in
 * authority, or fail with the reason.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { randomBytes } from 'node:crypto'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { issueCertificate } from '#base/certificate.ts'
import type { Authority, Controller, ControllerParts } from '#controllers/controller.ts'
import { queueFor, unlessMissing } from '#controllers/queue-for.ts'
import { certificateRequests } from '#controllers/resources.ts'
import { type ParsedRequest, parseCertificateRequest } from './certificate-request.ts'
import { certificateUsages } from './certificate-usages.ts'
import { signerRules } from './signers.ts'

const failuresHaveStatus = change(
  'the condition Failed of a certificate signing request has a status',
  { since: 19 },
)

/** Certificates are backdated, so that machines whose clocks are slightly behind accept them. */
const backdatedMs = 5 * 60_000
/** Certificates with a shorter lifetime are extended by the backdating. */
const shortMs = 8 * 3_600_000
const shortestMs = 10 * 60_000
const legacySigner = 'kubernetes.io/legacy-unknown'

export const certificateSigning: Controller = {
  name: 'csrsigning',
  account: 'certificate-controller',
  start(parts) {
    const { authority, client, informers, release } = parts
    if (authority === undefined) return
    const resource = certificateRequests(release)
    const queue = queueFor('csrsigning', parts, async (name) => {
      const request = await unlessMissing(client.get(resource, '', name))
      if (request === undefined || !isForSigning(request)) return
      const status = signed(parts, authority, request)
      await unlessMissing(client.update(resource, { ...request, status }, 'status'))
    })
    informers.certificateRequests(release).listen({
      changed: (request) => {
        if (isForSigning(request)) queue.add(request.metadata.name as string)
      },
    })
  },
}

const conditions = (request: KubeObject): Loose[] => request.status?.conditions ?? []
const hasCondition = (request: KubeObject, type: string) =>
  conditions(request).some(
    (condition) => condition.type === type && (condition.status ?? 'True') !== 'False',
  )

function isForSigning(request: KubeObject): boolean {
  if (request.status?.certificate || !hasCondition(request, 'Approved')) return false
  if (hasCondition(request, 'Denied') || hasCondition(request, 'Failed')) return false
  return signerRules.has(request.spec?.signerName ?? legacySigner)
}

/** The new status: with a certificate, or with a condition that has the reason of the failure. */
function signed(parts: ControllerParts, authority: Authority, request: KubeObject): Loose {
  const { spec, status } = request
  const asked = parseCertificateRequest(Buffer.from(spec.request ?? '', 'base64'))
  const usages: string[] = spec.usages ?? []
  const refusal = signerRules.get(spec.signerName ?? legacySigner)?.(asked, usages)
  if (refusal !== undefined) {
    const failed: Loose = { type: 'Failed', reason: 'SignerValidationFailure', message: refusal }
    if (releaseOf(parts.release).has(failuresHaveStatus)) failed.status = 'True'
    return { ...status, conditions: [...conditions(request), failed] }
  }
  const wanted = parts.feature('CSRDuration') ? spec.expirationSeconds : undefined
  const certificate = sign(parts, authority, asked, usages, wanted)
  return { ...status, certificate: Buffer.from(certificate).toString('base64') }
}

function sign(
  { clock, signingDurationMs }: ControllerParts,
  authority: Authority,
  { subject, publicKey, alternativeNames }: ParsedRequest,
  usages: readonly string[],
  expirationSeconds: number | undefined,
): string {
  const asked = expirationSeconds === undefined ? signingDurationMs : expirationSeconds * 1000
  const lifeMs = Math.min(signingDurationMs, Math.max(shortestMs, asked))
  const now = clock.now()
  const end = now + lifeMs - (lifeMs < shortMs ? 0 : backdatedMs)
  // Nothing outlives what vouches for it.
  const lastMs = Date.parse(authority.certificate.validTo)
  if (now >= lastMs) throw new Error('the certificate of the authority has expired')
  return issueCertificate(
    {
      subject: { der: subject },
      publicKey,
      usages: certificateUsages(usages),
      alternativeNames,
      notBeforeMs: now - backdatedMs,
      notAfterMs: Math.min(end, lastMs),
      serial: randomBytes(16),
    },
    authority,
  )
}
