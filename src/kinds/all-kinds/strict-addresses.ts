/**
 * Strict validation of IP addresses and CIDRs for newer fields: only canonical forms such as
 * `fd00::1`, not `FD00:0::1` or `010.0.0.1`.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import { formatCidr, formatIp, parseCidr, parseIp } from '#api/ip-address.ts'
import { isMapped, withoutZeros } from './legacy-addresses.ts'

export function checkAddress(text: string, path: FieldPath | string): FieldError[] {
  const wrong = (detail: string) => [invalid(path, text, detail)]
  const plain = withoutZeros(text)
  const ip = parseIp(plain)
  if (ip === undefined) {
    return wrong('must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')
  }
  if (plain !== text) return wrong('must not have leading 0s')
  if (isMapped(text)) return wrong('must not be an IPv4-mapped IPv6 address')
  const canonical = formatIp(ip)
  return canonical === text ? [] : wrong(`must be in canonical form (${goQuote(canonical)})`)
}

export function checkCidr(text: string, path: FieldPath | string): FieldError[] {
  const wrong = (detail: string) => [invalid(path, text, detail)]
  const plain = withoutZeros(text).replace(/\/0+(?=\d)/, '/')
  const cidr = parseCidr(plain)
  if (cidr === undefined) {
    return wrong('must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')
  }
  if (plain !== text) return wrong('must not have leading 0s in IP or prefix length')
  if (isMapped(text.split('/', 1)[0] as string)) {
    return wrong('must not have an IPv4-mapped IPv6 address')
  }
  if (formatIp(cidr.ip) !== formatIp(cidr.network)) {
    return wrong('must not have bits set beyond the prefix length')
  }
  const canonical = formatCidr(cidr)
  return canonical === text ? [] : wrong(`must be in canonical form (${goQuote(canonical)})`)
}

/** An address of an interface, with the length of its network: `10.9.8.7/24`. */
export function checkInterfaceAddress(text: string, path: FieldPath | string): FieldError[] {
  const wrong = (detail: string) => [invalid(path, text, detail)]
  const cidr = parseCidr(withoutZeros(text).replace(/\/0+(?=\d)/, '/'))
  if (cidr === undefined) {
    return wrong('must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)')
  }
  const mappedBits = 96
  const isMappedNetwork = isMapped(text.split('/', 1)[0] as string) && cidr.ones > mappedBits
  const ones = isMappedNetwork ? cidr.ones - mappedBits : cidr.ones
  const canonical = `${formatIp(cidr.ip)}/${ones}`
  return canonical === text ? [] : wrong(`must be in canonical form (${goQuote(canonical)})`)
}
