/**
 * The status of a PodCertificateRequest: it ends as issued, denied or failed, and never changes
 * after that.
 */
import { X509Certificate } from 'node:crypto'
import {
  type FieldError,
  invalid,
  invalidUnshown,
  notSupported,
  required,
} from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { longerThan } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Release } from '#api/releases/change.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import { checkConditions } from '#kinds/all-kinds/conditions.ts'
import { requestedKey } from '#kinds/certificates/certificate-signing-request/certificate-request.ts'
import { isCertificate } from '#kinds/certificates/certificate-signing-request/issued-certificate.ts'
import { decodePem } from '#kinds/certificates/certificate-signing-request/pem.ts'
import { tooLongBytes } from '#kinds/declarative/limits.ts'

const statusPath = FieldPath.of('status')
const conditionsPath = statusPath.child('conditions')
const chainPath = statusPath.child('certificateChain')
const ends = ['Issued', 'Denied', 'Failed']
const chainSizeBytesMax = 100 * 1024
const minuteMs = 60_000
const skewMsMax = 5 * minuteMs
const refreshMarginMs = 10 * minuteMs
const lifetimeMsMin = 60 * minuteMs

const hasEnded = (request: KubeObject, type: string): boolean =>
  (request.status?.conditions ?? []).some((c: Loose) => c.type === type && c.status === 'True')

export function checkIssuedStatus(
  next: KubeObject,
  old: KubeObject,
  nowMs: number,
  release: Release,
): FieldError[] {
  const conditions: Loose[] = next.status?.conditions ?? []
  const errors = [...checkEnds(conditions), ...checkConditions(conditions, conditionsPath, release)]
  if (errors.length > 0) return errors
  const same = (a: Loose | undefined, b: Loose | undefined, detail: string): FieldError[] =>
    sameJson(a ?? {}, b ?? {}) ? [] : [invalidUnshown(statusPath, detail)]
  if (ends.some((end) => hasEnded(old, end))) {
    const detail = 'immutable after PodCertificateRequest is issued, denied, or failed'
    return same(next.status, old.status, detail)
  }
  if (hasEnded(next, 'Denied') || hasEnded(next, 'Failed')) {
    const detail =
      'non-condition status fields must be empty when denying or failing the PodCertificateRequest'
    return same(next.status, { conditions }, detail)
  }
  if (hasEnded(next, 'Issued')) return checkChain(next, old, nowMs)
  const detail = 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"'
  return same(next.status, old.status, detail)
}

function checkEnds(conditions: Loose[]): FieldError[] {
  let known = 0
  return conditions.flatMap(({ type = '', status = '' }, i) => {
    const path = conditionsPath.child(`[${i}]`)
    if (!ends.includes(type)) return [notSupported(path.child('type'), type, ends)]
    const errors: FieldError[] = []
    if (++known > 1) {
      const detail = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
      errors.push(invalid(path.child('type'), type, detail))
    }
    if (status !== 'True') errors.push(notSupported(path.child('status'), status, ['True']))
    return errors
  })
}

function checkChain(next: KubeObject, old: KubeObject, nowMs: number): FieldError[] {
  const chain: string = next.status?.certificateChain ?? ''
  const wrong = (detail: string) => [invalid(chainPath, chain, detail)]
  if (longerThan(chain, chainSizeBytesMax)) return [tooLongBytes(chainPath, chainSizeBytesMax)]
  const leaf = decodePem(Buffer.from(chain))
  if (leaf === undefined) {
    return wrong('issued certificate chain must contain at least one certificate')
  }
  if (leaf.type !== 'CERTIFICATE') {
    return wrong('issued certificate chain must consist entirely of CERTIFICATE PEM blocks')
  }
  if (!isCertificate(leaf.bytes)) return wrong('leaf certificate does not parse as valid X.509')
  const certificate = new X509Certificate(leaf.bytes)
  const wanted = requestedKey(Buffer.from(old.spec?.stubPKCS10Request ?? '', 'base64'))
  if ('problem' in wanted) {
    return [invalidUnshown('spec.stubPKCS10Request', 'must be a valid PKCS#10 CSR')]
  }
  if (wanted.key !== undefined && !certificate.publicKey.equals(wanted.key)) {
    return wrong('leaf certificate was not issued to the requested public key')
  }
  const errors = checkTimes(next, certificate, nowMs)
  return errors.length > 0 ? errors : checkIntermediates(leaf.rest, wrong)
}

function checkTimes(next: KubeObject, leaf: X509Certificate, nowMs: number): FieldError[] {
  const path = (field: string) => statusPath.child(field)
  const status: Loose = next.status
  const consistent = 'must be present and consistent with the issued certificate'
  const missing = [
    ['notBefore', consistent],
    ['notAfter', consistent],
    ['beginRefreshAt', 'must be present and in the range [notbefore+10min, notafter-10min]'],
  ] as const
  const errors = missing.flatMap(([field, detail]) =>
    status[field] ? [] : [required(path(field), detail)],
  )
  if (errors.length > 0) return errors
  const wrong = (field: string, detail: string) => [invalid(path(field), status[field], detail)]
  const [before, after, refresh] = missing.map(([field]) => Date.parse(status[field]))
  const [from, until] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()]
  if (before !== from) {
    return wrong('notBefore', 'must be set to the NotBefore time encoded in the leaf certificate')
  }
  if (Math.abs(from - nowMs) >= skewMsMax) {
    return wrong('notBefore', "must be set to within 5 minutes of kube-apiserver's current time")
  }
  if (after !== until) {
    return wrong('notAfter', 'must be set to the NotAfter time encoded in the leaf certificate')
  }
  const lifetimeErrors = checkLifetime(until - from, next.spec?.maxExpirationSeconds ?? 0)
  if (lifetimeErrors.length > 0) return lifetimeErrors
  if ((refresh as number) < from + refreshMarginMs) {
    return wrong('beginRefreshAt', 'must be at least 10 minutes after status.notBefore')
  }
  return (refresh as number) > until - refreshMarginMs
    ? wrong('beginRefreshAt', 'must be at least 10 minutes before status.notAfter')
    : []
}

/** Go shows a duration as its nanoseconds. */
function checkLifetime(lifetimeMs: number, secondsMax: number): FieldError[] {
  const shown = BigInt(lifetimeMs) * 1_000_000n
  if (lifetimeMs < lifetimeMsMin) {
    return [invalid(chainPath, shown, 'leaf certificate lifetime must be >= 1 hour')]
  }
  if (lifetimeMs <= secondsMax * 1000) return []
  const detail = `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${secondsMax})`
  return [invalid(chainPath, shown, detail)]
}

function checkIntermediates(rest: Buffer, wrong: (detail: string) => FieldError[]): FieldError[] {
  for (let block = decodePem(rest); block !== undefined; block = decodePem(block.rest)) {
    if (block.type !== 'CERTIFICATE') {
      return wrong('issued certificate chain must consist entirely of CERTFICATE PEM blocks')
    }
    if (!isCertificate(block.bytes)) {
      return wrong('intermediate certificate does not parse as valid X.509')
    }
  }
  return []
}
