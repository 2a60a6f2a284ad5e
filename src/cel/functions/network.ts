/** IP addresses and CIDR blocks, with the error texts of Go's netip. */
import { goQuote } from '#api/go-syntax.ts'
import { formatIp, type IpBytes, isV4Bytes, parseIp } from '#api/ip-address.ts'
import type { Implementation } from '#cel/plan-call.ts'
import { CelError, OpaqueValue, overloadError, type Value } from '#cel/values.ts'

class IpValue extends OpaqueValue {
  readonly typeName = 'net.IP'
  readonly bytes: IpBytes
  constructor(bytes: IpBytes) {
    super()
    this.bytes = bytes
  }
  get isV4(): boolean {
    return isV4Bytes(this.bytes)
  }
  override get size(): number {
    return this.isV4 ? 4 : 16
  }
  equals(other: Value): boolean | CelError {
    if (!(other instanceof IpValue)) return overloadError(other)
    return this.bytes.every((byte, at) => byte === other.bytes[at])
  }
  override toString(): string {
    return formatIp(this.bytes)
  }
}

class CidrValue extends OpaqueValue {
  readonly typeName = 'net.CIDR'
  readonly ip: IpValue
  /** Bits of the prefix. */
  readonly ones: number
  constructor(ip: IpValue, ones: number) {
    super()
    this.ip = ip
    this.ones = ones
  }
  /** Bytes that the prefix touches. */
  override get size(): number {
    return Math.ceil(this.ones / 8)
  }
  equals(other: Value): boolean | CelError {
    if (!(other instanceof CidrValue)) return overloadError(other)
    return this.ones === other.ones && this.ip.equals(other.ip)
  }
  override toString(): string {
    return `${this.ip.toString()}/${this.ones}`
  }
}

/** Why Go's netip.ParseAddr rejects a text. */
function addressProblem(text: string): string {
  const problem = (why: string) => `ParseAddr(${goQuote(text)}): ${why}`
  const first = /[.:%]/.exec(text)?.[0]
  if (first === undefined || first === '%')
    return problem(first === '%' ? 'missing IPv6 address' : 'unable to parse IP')
  return problem(first === '.' ? v4Problem(text) : v6Problem(text))
}

function v4Problem(text: string): string {
  const rest = (at: number) => ` (at ${goQuote(text.slice(at))})`
  let digits = 0
  let value = 0
  let fields = 0
  for (let at = 0; at < text.length; at += 1) {
    const ch = text[at] as string
    if (/[0-9]/.test(ch)) {
      if (digits === 1 && value === 0) return 'IPv4 field has octet with leading zero'
      value = value * 10 + Number(ch)
      digits += 1
      if (value > 255) return 'IPv4 field has value >255'
    } else if (ch === '.') {
      if (at === 0 || at === text.length - 1 || text[at - 1] === '.')
        return `IPv4 field must have at least one digit${rest(at)}`
      if (fields === 3) return 'IPv4 address too long'
      fields += 1
      digits = 0
      value = 0
    } else return `unexpected character${rest(at)}`
  }
  return 'IPv4 address too short'
}

/** The commonest of netip's reasons; parts of an address are looked at from the left. */
function v6Problem(text: string): string {
  const at = (rest: string) => ` (at ${goQuote(rest)})`
  let rest = text.startsWith('::') ? text.slice(2) : text
  let groups = text.startsWith('::') ? 1 : 0
  if (text === '::') return 'unexpected character'
  while (groups < 8) {
    const digits = /^[0-9a-fA-F]*/.exec(rest)?.[0] ?? ''
    if (digits.length > 4) return `each group must have 4 or less digits${at(rest)}`
    if (digits === '') return `each colon-separated field must have at least one digit${at(rest)}`
    groups += 1
    rest = rest.slice(digits.length)
    if (rest === '') return 'address string too short'
    if (!rest.startsWith(':')) return `unexpected character, want colon${at(rest)}`
    if (rest.length === 1) return `colon must be followed by more characters${at(rest)}`
    rest = rest.slice(1)
    if (rest.startsWith(':')) rest = rest.slice(1)
  }
  return `trailing garbage after address${at(rest)}`
}

function readIp(text: string): IpValue | CelError {
  const quoted = goQuote(text)
  const percent = text.indexOf('%')
  const plain = percent < 0 ? text : text.slice(0, percent)
  const bytes = parseIp(plain)
  if (bytes === undefined || (percent >= 0 && !plain.includes(':')))
    return new CelError(
      `IP Address ${quoted} parse error during conversion from string: ${addressProblem(text)}`,
    )
  if (percent >= 0) {
    if (percent === text.length - 1)
      return new CelError(
        `IP Address ${quoted} parse error during conversion from string: ` +
          `ParseAddr(${quoted}): zone must be a non-empty string`,
      )
    return new CelError(`IP address ${quoted} with zone value is not allowed`)
  }
  if (text.includes(':') && isV4Bytes(bytes))
    return new CelError(`IPv4-mapped IPv6 address ${quoted} is not allowed`)
  return new IpValue(bytes)
}

/** The inner error; the caller of `cidr` adds its own words before it. */
function readCidr(text: string): CidrValue | CelError {
  const problem = (why: string) =>
    new CelError(
      'network address parse error during conversion from string: ' +
        `netip.ParsePrefix(${goQuote(text)}): ${why}`,
    )
  const slash = text.lastIndexOf('/')
  if (slash < 0) return problem("no '/'")
  const address = text.slice(0, slash)
  if (address.includes('%') && parseIp(address.split('%')[0] as string) !== undefined)
    return problem('IPv6 zones cannot be present in a prefix')
  const bytes = parseIp(address)
  if (bytes === undefined) return problem(addressProblem(address))
  const bits = text.slice(slash + 1)
  const isV6 = address.includes(':')
  if (bits.length > 1 && (bits < '1' || bits[0]! > '9'))
    return problem(`bad bits after slash: ${goQuote(bits)}`)
  if (!/^[0-9]{1,18}$/.test(bits)) return problem(`bad bits after slash: ${goQuote(bits)}`)
  if (Number(bits) > (isV6 ? 128 : 32)) return problem('prefix length out of range')
  if (isV6 && isV4Bytes(bytes))
    return new CelError(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`)
  return new CidrValue(new IpValue(bytes), Number(bits))
}

function toCidr(text: string): CidrValue | CelError {
  const cidr = readCidr(text)
  if (cidr instanceof CidrValue) return cidr
  return new CelError(`network address parse error during conversion from string: ${cidr.message}`)
}

/** The first bits of an address; an IPv4 address begins at its last four bytes. */
function masked(ip: IpValue, ones: number): IpBytes {
  const kept = ip.isV4 ? ones + 96 : ones
  return ip.bytes.map((byte, at) => {
    const bits = Math.min(8, Math.max(0, kept - 8 * at))
    return byte & (0xff << (8 - bits))
  })
}

function containsIp(cidr: Value, ip: Value): Value {
  if (!(cidr instanceof CidrValue)) return overloadError(ip)
  // kube-apiserver does not show why a text is no address.
  if (!(ip instanceof IpValue)) return overloadError(cidr)
  if (cidr.ip.isV4 !== ip.isV4) return false
  const network = masked(cidr.ip, cidr.ones)
  return masked(ip, cidr.ones).every((byte, at) => byte === network[at])
}

function containsCidr(cidr: Value, other: Value): Value {
  if (!(cidr instanceof CidrValue)) return overloadError(cidr)
  if (!(other instanceof CidrValue)) return overloadError(other)
  return cidr.ones <= other.ones && containsIp(cidr, other.ip)
}

/** Addresses by the bytes that say what they are for. */
const v4Bytes = (ip: IpValue) => ip.bytes.subarray(12)
const isUnspecified = (ip: IpValue) =>
  (ip.isV4 ? v4Bytes(ip) : ip.bytes).every((byte) => byte === 0)
const isLoopback = (ip: IpValue) =>
  ip.isV4 ? v4Bytes(ip)[0] === 127 : ip.bytes.every((byte, at) => byte === (at === 15 ? 1 : 0))
const isMulticast = (ip: IpValue) =>
  ip.isV4 ? ((v4Bytes(ip)[0] as number) & 0xf0) === 0xe0 : ip.bytes[0] === 0xff
const isLinkLocalUnicast = (ip: IpValue) =>
  ip.isV4
    ? v4Bytes(ip)[0] === 169 && v4Bytes(ip)[1] === 254
    : ip.bytes[0] === 0xfe && ((ip.bytes[1] as number) & 0xc0) === 0x80
const isLinkLocalMulticast = (ip: IpValue) =>
  ip.isV4
    ? v4Bytes(ip)[0] === 224 && v4Bytes(ip)[1] === 0 && v4Bytes(ip)[2] === 0
    : ip.bytes[0] === 0xff && ((ip.bytes[1] as number) & 0x0f) === 0x02
const isBroadcast = (ip: IpValue) => ip.isV4 && v4Bytes(ip).every((byte) => byte === 255)
const isGlobalUnicast = (ip: IpValue) =>
  !isBroadcast(ip) &&
  !isUnspecified(ip) &&
  !isLoopback(ip) &&
  !isMulticast(ip) &&
  !isLinkLocalUnicast(ip)

const ofIp =
  (read: (ip: IpValue) => Value): Implementation =>
  (ip) =>
    ip instanceof IpValue ? read(ip) : overloadError(ip)

const ofCidr =
  (read: (cidr: CidrValue) => Value): Implementation =>
  (cidr) =>
    cidr instanceof CidrValue ? read(cidr) : overloadError(cidr)

function isCanonical(text: string): Value {
  const ip = readIp(text)
  return ip instanceof IpValue ? ip.toString() === text : ip
}

export const networkImplementations: readonly (readonly [string, Implementation])[] = [
  ['string_to_ip', (text) => readIp(text as string)],
  ['is_ip', (text) => readIp(text as string) instanceof IpValue],
  ['ip_is_canonical', (text) => isCanonical(text as string)],
  ['ip_to_string', ofIp((ip) => ip.toString())],
  ['ip_family', ofIp((ip) => (ip.isV4 ? 4n : 6n))],
  ['ip_is_unspecified', ofIp(isUnspecified)],
  ['ip_is_loopback', ofIp(isLoopback)],
  ['ip_is_link_local_multicast', ofIp(isLinkLocalMulticast)],
  ['ip_is_link_local_unicast', ofIp(isLinkLocalUnicast)],
  ['ip_is_global_unicast', ofIp(isGlobalUnicast)],
  ['string_to_cidr', (text) => toCidr(text as string)],
  ['is_cidr', (text) => readCidr(text as string) instanceof CidrValue],
  ['cidr_to_string', ofCidr((cidr) => cidr.toString())],
  ['cidr_ip', ofCidr((cidr) => cidr.ip)],
  ['cidr_prefix_length', ofCidr((cidr) => BigInt(cidr.ones))],
  [
    'cidr_masked',
    ofCidr((cidr) => new CidrValue(new IpValue(masked(cidr.ip, cidr.ones)), cidr.ones)),
  ],
  ['cidr_contains_ip_ip', containsIp],
  ['cidr_contains_ip_string', (cidr, text) => containsIp(cidr, readIp(text as string))],
  ['cidr_contains_cidr', containsCidr],
  ['cidr_contains_cidr_string', (cidr, text) => containsCidr(cidr, toCidr(text as string))],
]
