/**
 * Parses IP addresses and CIDR blocks by the rules of Go's net package: no zones and no leading
 * zeros. An address is sixteen bytes; an IPv4 address is mapped to ::ffff:a.b.c.d. Nothing here
 * resolves names.
 */

export type IpBytes = Uint8Array

export interface Cidr {
  /** The address as written. */
  readonly ip: IpBytes
  /** The address with the host bits cleared. */
  readonly network: IpBytes
  /** The prefix length: of 32 bits if the block was written as IPv4, otherwise of 128. */
  readonly ones: number
  readonly bits: 32 | 128
}

export function parseIp(text: string): IpBytes | undefined {
  const bytes = new Uint8Array(16)
  if (!text.includes(':')) return parseV4(text, bytes, 12) ? mapV4(bytes) : undefined
  return parseV6(text, bytes) ? bytes : undefined
}

export const isIp = (text: string): boolean => parseIp(text) !== undefined
export const isIpv4 = (text: string): boolean => {
  const ip = parseIp(text)
  return ip !== undefined && isV4Bytes(ip)
}
export const isIpv6 = (text: string): boolean => {
  const ip = parseIp(text)
  return ip !== undefined && !isV4Bytes(ip)
}

/** Whether the sixteen bytes are an IPv4-mapped address. */
export function isV4Bytes(ip: IpBytes): boolean {
  for (let i = 0; i < 10; i++) if (ip[i] !== 0) return false
  return ip[10] === 0xff && ip[11] === 0xff
}

function mapV4(bytes: Uint8Array): Uint8Array {
  bytes[10] = 0xff
  bytes[11] = 0xff
  return bytes
}

function parseV4(text: string, bytes: Uint8Array, offset: number): boolean {
  const parts = text.split('.')
  if (parts.length !== 4) return false
  for (let i = 0; i < 4; i++) {
    const part = parts[i] as string
    if (!/^(?:0|[1-9][0-9]{0,2})$/.test(part)) return false
    const value = Number(part)
    if (value > 255) return false
    bytes[offset + i] = value
  }
  return true
}

function parseV6(text: string, bytes: Uint8Array): boolean {
  const halves = text.split('::')
  if (halves.length > 2) return false
  const head = splitGroups(halves[0] as string)
  const tail = halves.length === 2 ? splitGroups(halves[1] as string) : []
  if (halves.length === 1) return groupsInto(head, bytes, 16, true)
  const width = (groups: string[]) =>
    2 * groups.length + (groups.length > 0 && (groups.at(-1) as string).includes('.') ? 2 : 0)
  const headWidth = width(head)
  const tailWidth = width(tail)
  if (headWidth + tailWidth > 14) return false
  const first = new Uint8Array(headWidth)
  const last = new Uint8Array(tailWidth)
  if (!groupsInto(head, first, headWidth, false)) return false
  if (!groupsInto(tail, last, tailWidth, true)) return false
  bytes.set(first, 0)
  bytes.set(last, 16 - tailWidth)
  return true
}

const splitGroups = (text: string): string[] => (text === '' ? [] : text.split(':'))

/** Parses groups of four hexadecimal digits. If `dotted`, the last part may be an IPv4 address. */
function groupsInto(groups: string[], out: Uint8Array, width: number, dotted: boolean): boolean {
  let at = 0
  for (const [i, group] of groups.entries()) {
    if (group.includes('.')) {
      if (!dotted || i !== groups.length - 1 || at + 4 > width) return false
      if (!parseV4(group, out, at)) return false
      at += 4
      continue
    }
    if (!/^[0-9a-fA-F]{1,4}$/.test(group) || at + 2 > width) return false
    const value = Number.parseInt(group, 16)
    out[at++] = value >> 8
    out[at++] = value & 0xff
  }
  return at === width
}

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const address = text.slice(0, slash)
  const mask = text.slice(slash + 1)
  const ip = parseIp(address)
  if (ip === undefined || !/^[0-9]{1,8}$/.test(mask)) return undefined
  const bits = address.includes(':') ? 128 : 32
  const ones = Number(mask)
  if (ones > bits) return undefined
  return { ip, network: masked(ip, ones + (128 - bits)), ones, bits }
}

export const isCidr = (text: string): boolean => parseCidr(text) !== undefined

function masked(ip: IpBytes, ones: number): IpBytes {
  const out = new Uint8Array(16)
  for (let i = 0; i < 16; i++) {
    const kept = Math.min(8, Math.max(0, ones - 8 * i))
    out[i] = (ip[i] as number) & (0xff << (8 - kept))
  }
  return out
}

/** Whether a block contains an address. IPv4 addresses are never in IPv6 blocks, and vice versa. */
export function cidrContains(cidr: Cidr, ip: IpBytes): boolean {
  if (isV4Bytes(ip) !== isV4Bytes(cidr.ip)) return false
  const prefix = cidr.bits === 32 ? cidr.ones + 96 : cidr.ones
  const network = masked(ip, prefix)
  return network.every((byte, i) => byte === cidr.network[i])
}

/**
 * Formats an address as Go does: dotted for IPv4; otherwise the longest run of zeros is compressed.
 */
export function formatIp(ip: IpBytes): string {
  if (isV4Bytes(ip)) return Array.from(ip.subarray(12)).join('.')
  const groups: number[] = []
  for (let i = 0; i < 16; i += 2) groups.push(((ip[i] as number) << 8) | (ip[i + 1] as number))
  let [start, length] = [-1, 1]
  for (let i = 0; i < 8; i++) {
    let run = 0
    while (i + run < 8 && groups[i + run] === 0) run++
    if (run > length) [start, length] = [i, run]
  }
  const hex = (part: number[]) => part.map((group) => group.toString(16)).join(':')
  if (start < 0) return hex(groups)
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`
}

/** Formats the network of a block as Go does. */
export const formatCidr = (cidr: Cidr): string => `${formatIp(cidr.network)}/${cidr.ones}`
