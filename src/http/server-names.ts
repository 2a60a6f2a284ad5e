/**
 * Which of several certificates a client is shown: by the name it calls, and, where it calls none,
 * by the address it came to. Names that were given for a certificate come before those that stand
 * in it, exact ones before wildcards, earlier certificates before later ones. It only chooses;
 * nothing is verified here.
 */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'

export interface NamedCertificate {
  readonly cert: string
  readonly key: string
  /**
   * What clients call it by, `*.example.com` among it; what stands in the certificate where empty.
   */
  readonly names: readonly string[]
}

const hostName = /^(\*|(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*)$/

/** The common name, unless it is an address or no name at all, and the names beside it. */
function namesIn(certificate: X509Certificate): string[] {
  const common = /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? ''
  const others = certificate.subjectAltName?.split(', ') ?? []
  return [
    ...(isIP(common) === 0 && hostName.test(common) ? [common] : []),
    ...others.flatMap((name) => /^DNS:(.*)$/.exec(name)?.[1] ?? []),
  ]
}

const covers = (certificate: X509Certificate, name: string): boolean =>
  isIP(name) === 0
    ? certificate.checkHost(name, { subject: 'never', partialWildcards: false }) !== undefined
    : certificate.checkIP(name) !== undefined

/** Addresses that have a certificate of their own. */
export const namedAddresses = (named: readonly NamedCertificate[]): string[] =>
  named.flatMap(({ names }) => names.filter((name) => isIP(name) !== 0))

/** Chooses by name or address: undefined stands for the certificate that all others are shown. */
export function certificateChooser(
  ordinary: string | Buffer,
  named: readonly NamedCertificate[],
): (name: string) => NamedCertificate | undefined {
  const read = named.map((one) => ({ one, certificate: new X509Certificate(one.cert) }))
  const byName = new Map<string, NamedCertificate>()
  const add = (name: string, one: NamedCertificate) => {
    if (!byName.has(name)) byName.set(name, one)
  }
  for (const { one } of read) for (const name of one.names) add(name, one)
  for (const { one, certificate } of read)
    if (one.names.length === 0) for (const name of namesIn(certificate)) add(name, one)
  const ordinaryCertificate = new X509Certificate(ordinary)
  return (called) => {
    const name = called.toLowerCase()
    const known = byName.get(name) ?? byName.get(name.replace(/^[^.]*/, '*'))
    if (known !== undefined || covers(ordinaryCertificate, name)) return known
    return read.find(({ certificate }) => covers(certificate, name))?.one
  }
}
