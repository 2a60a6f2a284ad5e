/**
 * Chooses one of several certificates by the requested server name, or by the called address if
 * there is no name. Configured names precede names in the certificate, exact names precede
 * wildcards, earlier certificates precede later ones. It does not verify certificates.
 */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'

export interface NamedCertificate {
  readonly cert: string
  readonly key: string
  /** Server names such as `*.example.com`; if empty, the names in the certificate are used. */
  readonly names: readonly string[]
}

const hostName = /^(\*|(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*)$/

/** The common name, if it is a host name, and the alternative names. */
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

/** Addresses with their own certificate. */
export const namedAddresses = (named: readonly NamedCertificate[]): string[] =>
  named.flatMap(({ names }) => names.filter((name) => isIP(name) !== 0))

/** Chooses by name or address; undefined selects the default certificate. */
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
