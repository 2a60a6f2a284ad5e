/**
 * Checks that the certificate of a webhook or an aggregated server is valid for its host name. The
 * common name does not count. Certificates without alternative names are rejected and counted for
 * the whole process.
 */
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'

export interface Tally {
  count: number
}

/** Number of requests to servers whose certificate has no alternative names. */
export const unnamedServers: { readonly webhooks: Tally; readonly aggregated: Tally } = {
  webhooks: { count: 0 },
  aggregated: { count: 0 },
}

export const legacyNameCode = 'ERR_LEGACY_COMMON_NAME'
export const legacyNameWords =
  'x509: certificate relies on legacy Common Name field, use SANs or temporarily enable Common Name matching with GODEBUG=x509ignoreCN=0'

/** For the option `checkServerIdentity` of TLS clients. */
export const identityCheck =
  (unnamed: Tally) =>
  (host: string, certificate: PeerCertificate): Error | undefined => {
    const problem = checkServerIdentity(host, certificate)
    if (problem !== undefined || certificate.subjectaltname !== undefined) return problem
    unnamed.count++
    return Object.assign(new Error(legacyNameWords), { code: legacyNameCode })
  }

/**
 * The error for a wrong host name. It lists the names or addresses for which the certificate is
 * valid.
 */
export function notNamed(host: string, certificate: PeerCertificate | undefined): string {
  const names = (certificate?.subjectaltname ?? '').split(', ')
  const of = (type: string) =>
    names.filter((name) => name.startsWith(type)).map((name) => name.slice(type.length))
  const bare = host.replace(/^\[|\]$/g, '')
  const isAddress = isIP(bare) !== 0
  const instead = isAddress ? of('IP Address:') : of('DNS:')
  if (instead.length > 0) return `x509: certificate is valid for ${instead.join(', ')}, not ${bare}`
  return isAddress
    ? `x509: cannot validate certificate for ${bare} because it doesn't contain any IP SANs`
    : `x509: certificate is not valid for any names, but wanted to match ${bare}`
}
