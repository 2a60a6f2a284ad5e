/**
 * Validates IP addresses and CIDRs in fields that are older than kube-apiserver's strict formats. A
 * value may be IPv4 with leading zeros, IPv4-mapped IPv6, or IPv6 that is not in its shortest form.
 * Clients get warnings about these forms. If the feature gate StrictIPCIDRValidation is on, a new
 * value may only be IPv6 that is not in its shortest form. Values of the old object stay valid.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import {
  type Cidr,
  formatCidr,
  formatIp,
  type IpBytes,
  isV4Bytes,
  parseCidr,
  parseIp,
} from '#api/ip-address.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { Context } from '#kinds/kind.ts'

/** Older releases quote the error of Go's parser. */
const suggestsForms = change('warnings of addresses suggest a form', { since: 33 })

/** IPv4 parts without leading zeros: 010.1.2.3 → 10.1.2.3. */
export const withoutZeros = (text: string): string =>
  text.replace(/\d+(\.\d+){3}/, (dotted) => dotted.split('.').map(Number).join('.'))

const plainCidr = (text: string): string => withoutZeros(text).replace(/\/0+(?=\d)/, '/')

const parseLegacyIp = (text: string): IpBytes | undefined => parseIp(withoutZeros(text))
export const parseLegacyCidr = (text: string): Cidr | undefined => parseCidr(plainCidr(text))

/** IPv4 written as IPv6. */
export const isMapped = (text: string): boolean => {
  const ip = parseIp(text)
  return text.includes(':') && ip !== undefined && isV4Bytes(ip)
}

const isStrict = ({ feature }: Pick<Context, 'feature'>): boolean =>
  feature('StrictIPCIDRValidation')

/** `old` are the values of the old object, which it may keep. */
export function checkLegacyIp(
  text: string,
  path: FieldPath,
  context: Pick<Context, 'feature'>,
  old: readonly string[] = [],
): FieldError[] {
  if (old.includes(text)) return []
  const wrong = (detail: string) => [invalid(path, text, detail)]
  if (parseLegacyIp(text) === undefined) {
    return wrong('must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')
  }
  if (!isStrict(context)) return []
  if (withoutZeros(text) !== text) return wrong('must not have leading 0s')
  return isMapped(text) ? wrong('must not be an IPv4-mapped IPv6 address') : []
}

export function checkLegacyCidr(
  text: string,
  path: FieldPath | string,
  context: Pick<Context, 'feature'>,
  old: readonly string[] = [],
): FieldError[] {
  if (old.includes(text)) return []
  const wrong = (detail: string) => [invalid(path, text, detail)]
  const cidr = parseLegacyCidr(text)
  if (cidr === undefined) {
    return wrong('must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')
  }
  if (!isStrict(context)) return []
  if (plainCidr(text) !== text) return wrong('must not have leading 0s in IP or prefix length')
  if (isMapped(addressOf(text))) return wrong('must not have an IPv4-mapped IPv6 address')
  const isNetwork = formatIp(cidr.ip) === formatIp(cidr.network)
  return isNetwork ? [] : wrong('must not have bits set beyond the prefix length')
}

const addressOf = (cidr: string): string => cidr.split('/', 1)[0] as string

/** Formats an address as Go's netip.Addr does, which keeps IPv4-mapped IPv6 addresses. */
const canonicalIp = (text: string, ip: IpBytes): string =>
  isMapped(text) ? `::ffff:${formatIp(ip)}` : formatIp(ip)

export function legacyIpWarnings(text: string, path: FieldPath, release: number): string[] {
  const ip = parseLegacyIp(text)
  if (ip === undefined) return []
  const hasZeros = withoutZeros(text) !== text
  const canonical = canonicalIp(text, ip)
  const [shown, better] = [goQuote(text), goQuote(canonical)]
  if (!releaseOf(release).has(suggestsForms)) {
    if (hasZeros) return [`${path}: ${acceptedIp}: ${zerosProblem(text)}`]
    if (!text.includes(':') || canonical === text) return []
    return [`${path}: IPv6 address ${shown} is not in ${canonicalFormat(better)}`]
  }
  if (hasZeros || isMapped(text)) {
    return [`${path}: non-standard IP address ${shown} is invalid: use ${goQuote(formatIp(ip))}`]
  }
  if (!text.includes(':') || canonical === text) return []
  return [`${path}: IPv6 address ${shown} should be in RFC 5952 canonical format (${better})`]
}

export function legacyCidrWarnings(text: string, path: FieldPath, release: number): string[] {
  const cidr = parseLegacyCidr(text)
  if (cidr === undefined) return []
  if (!releaseOf(release).has(suggestsForms)) return olderCidrWarnings(text, cidr, path)
  const network = goQuote(formatCidr(cidr))
  const warnings: string[] = []
  if (formatIp(cidr.ip) !== formatIp(cidr.network)) {
    const single = goQuote(`${formatIp(cidr.ip)}/${cidr.bits}`)
    const detail = `is ambiguous in this context (should be ${network} or ${single}?)`
    warnings.push(`${path}: CIDR value ${goQuote(text)} ${detail}`)
  }
  if (plainCidr(text) !== text || isMapped(addressOf(text))) {
    warnings.push(`${path}: non-standard CIDR value ${goQuote(text)} is invalid: use ${network}`)
  }
  if (warnings.length > 0 || !text.includes(':') || formatCidr(cidr) === text) return warnings
  const detail = `should be in RFC 5952 canonical format (${network})`
  return [`${path}: IPv6 CIDR value ${goQuote(text)} ${detail}`]
}

const acceptedIp = 'IP address was accepted, but will be invalid in a future Kubernetes release'
const acceptedPrefix = 'IP prefix was accepted, but will be invalid in a future Kubernetes release'
const canonicalFormat = (better: string) =>
  `RFC 5952 canonical format (${better}), which may cause controller apply-loops`
const zerosProblem = (text: string) =>
  `ParseAddr(${goQuote(text)}): IPv4 field has octet with leading zero`

function olderCidrWarnings(text: string, cidr: Cidr, path: FieldPath): string[] {
  const address = addressOf(text)
  const parsing = `${path}: ${acceptedPrefix}: netip.ParsePrefix(${goQuote(text)})`
  if (withoutZeros(text) !== text) return [`${parsing}: ${zerosProblem(address)}`]
  if (plainCidr(text) !== text) {
    return [`${parsing}: bad bits after slash: ${goQuote(text.slice(address.length + 1))}`]
  }
  const canonical = `${canonicalIp(address, cidr.ip)}/${cidr.ones}`
  if (!text.includes(':') || canonical === text) return []
  return [`${path}: IPv6 prefix ${goQuote(text)} is not in ${canonicalFormat(goQuote(canonical))}`]
}
