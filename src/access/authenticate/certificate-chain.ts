/**
 * Verifies that a certificate chains to a trusted authority. It checks signatures, validity
 * periods, CA constraints and the extended key usage for clients or servers. It rejects everything
 * that is not explicitly allowed, with the reason.
 */
import { X509Certificate } from 'node:crypto'
import { type CertificateFields, certificateFields } from './certificate-fields.ts'

/** Limit of intermediate certificates in a chain. Real chains are shorter. */
const chainLengthMax = 8
/**
 * Limit of signature checks with keys that one client sent; a valid chain needs three or four. A
 * client must not consume the CPU. Checks with trusted authorities are not limited: an operator may
 * have renewed an authority often under one name.
 */
const signatureChecksMax = 25
/**
 * Larger RSA keys are rejected: no real authority has them, and checking a signature takes tens of
 * milliseconds.
 */
const modulusBitsMax = 8192
/** Upper bound of RSA exponents, as in Go. */
const exponentEnd = 2n ** 31n
/** Larger certificates are rejected before parsing. Real certificates are far smaller. */
export const certificateBytesMax = 64 * 1024

const clientAuth = '1.3.6.1.5.5.7.3.2'
export const serverAuth = '1.3.6.1.5.5.7.3.1'
const wrongUsage = 'certificate specifies an incompatible key usage'
const anyUsage = '2.5.29.37.0'
/** MD2, MD5 and SHA-1, with RSA, DSA and ECDSA: signatures that can be forged. */
const brokenAlgorithms = new Set([
  '1.2.840.113549.1.1.2',
  '1.2.840.113549.1.1.4',
  '1.2.840.113549.1.1.5',
  '1.3.14.3.2.29',
  '1.2.840.10040.4.3',
  '1.2.840.10045.4.1',
])

interface Parsed {
  readonly certificate: X509Certificate
  readonly fields: CertificateFields
}

export type ChainVerdict =
  | { ok: true; leaf: CertificateFields; notBefore: number; notAfter: number }
  | { ok: false; why: string }

/** Parses every certificate of a PEM bundle. Throws if the bundle has none or an invalid one. */
export function readBundle(pem: string, file: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g)
  if (blocks === null) throw new Error(`data does not contain any valid certificates: ${file}`)
  return blocks.map((block, i) => {
    try {
      const certificate = new X509Certificate(block)
      certificateFields(certificate)
      return certificate
    } catch (error) {
      throw new Error(`certificate ${i + 1} of ${file}: ${(error as Error).message}`)
    }
  })
}

export class Authorities {
  readonly #roots: readonly Parsed[]
  readonly #usage: string

  constructor(certificates: readonly X509Certificate[], usage = clientAuth) {
    this.#usage = usage
    this.#roots = certificates.map((certificate) => ({
      certificate,
      fields: certificateFields(certificate),
    }))
  }

  verify(
    certificate: X509Certificate,
    intermediates: readonly X509Certificate[],
    now: number,
  ): ChainVerdict {
    try {
      const sent = [certificate, ...intermediates.slice(0, chainLengthMax)].map(parse)
      return this.#verify(sent[0] as Parsed, sent.slice(1), now)
    } catch (error) {
      return { ok: false, why: `malformed certificate: ${(error as Error).message}` }
    }
  }

  #verify(leaf: Parsed, intermediates: readonly Parsed[], now: number): ChainVerdict {
    const unfit = problem(leaf.fields, now)
    if (unfit !== undefined) return { ok: false, why: unfit }
    const search = { intermediates, now, checks: 0, why: 'certificate signed by unknown authority' }
    const chain = this.#roots.some((root) => root.certificate.raw.equals(leaf.certificate.raw))
      ? [leaf]
      : this.#chain([leaf], search)
    if (chain === undefined) return { ok: false, why: search.why }
    if (!usable(chain, this.#usage)) return { ok: false, why: wrongUsage }
    return {
      ok: true,
      leaf: leaf.fields,
      notBefore: Math.max(...chain.map(({ fields }) => fields.notBefore)),
      notAfter: Math.min(...chain.map(({ fields }) => fields.notAfter)),
    }
  }

  /**
   * Searches depth first, trusted authorities before intermediates. Keeps the reason of the last
   * rejected candidate.
   */
  #chain(
    chain: readonly Parsed[],
    search: { intermediates: readonly Parsed[]; now: number; checks: number; why: string },
  ): readonly Parsed[] | undefined {
    const last = chain.at(-1) as Parsed
    for (const root of this.#roots) {
      if (!isIssuer(root, last) || !this.#mayFollow(chain, root, false, search)) continue
      const whole = [...chain, root]
      if (usable(whole, this.#usage)) return whole
      search.why = wrongUsage
    }
    if (chain.length > chainLengthMax) return undefined
    for (const candidate of search.intermediates) {
      if (chain.includes(candidate) || !isIssuer(candidate, last)) continue
      if (!this.#mayFollow(chain, candidate, true, search)) continue
      const whole = this.#chain([...chain, candidate], search)
      if (whole !== undefined) return whole
    }
    return undefined
  }

  #mayFollow(
    chain: readonly Parsed[],
    parent: Parsed,
    intermediate: boolean,
    search: { now: number; checks: number; why: string },
  ): boolean {
    if (intermediate && ++search.checks > signatureChecksMax) {
      search.why = 'too many signatures to check'
      return false
    }
    const { fields, certificate } = parent
    const why =
      problem(fields, search.now) ??
      (fields.isAuthority === false || (intermediate && fields.isAuthority !== true)
        ? 'an issuer is not authorized to sign other certificates'
        : undefined) ??
      (fields.maySignCertificates === false
        ? 'an issuer is not authorized to sign other certificates'
        : undefined) ??
      (fields.pathLengthMax !== undefined && chain.length - 1 > fields.pathLengthMax
        ? 'too many intermediates for path length constraint'
        : undefined) ??
      (fields.hasNameConstraints && chain[0]?.fields.hasAlternativeNames === true
        ? 'name constraints are not supported'
        : undefined)
    if (why === undefined && signed(chain.at(-1) as Parsed, certificate)) return true
    search.why = why ?? 'certificate signed by unknown authority'
    return false
  }
}

function parse(certificate: X509Certificate): Parsed {
  if (certificate.raw.length > certificateBytesMax)
    throw new Error(`larger than ${certificateBytesMax} bytes`)
  return { certificate, fields: certificateFields(certificate) }
}

function problem({ notBefore, notAfter, unhandledCritical }: CertificateFields, now: number) {
  if (unhandledCritical.length > 0) return 'unhandled critical extension'
  if (now < notBefore) return 'certificate is not yet valid'
  if (now > notAfter) return 'certificate has expired'
  return undefined
}

const isIssuer = (parent: Parsed, child: Parsed): boolean =>
  parent.fields.subject.equals(child.fields.issuer)

function signed(child: Parsed, parent: X509Certificate): boolean {
  if (brokenAlgorithms.has(child.fields.signatureAlgorithm)) return false
  try {
    const { publicKey } = parent
    const { modulusLength = 0, publicExponent = 0n } = publicKey.asymmetricKeyDetails ?? {}
    if (modulusLength > modulusBitsMax || publicExponent >= exponentEnd) return false
    return child.certificate.verify(publicKey)
  } catch {
    return false
  }
}

/** Every certificate of the chain that restricts its use must allow this one. */
const usable = (chain: readonly Parsed[], usage: string): boolean =>
  chain.every(
    ({ fields: { extendedUsages } }) =>
      extendedUsages === undefined ||
      extendedUsages.includes(usage) ||
      extendedUsages.includes(anyUsage),
  )
