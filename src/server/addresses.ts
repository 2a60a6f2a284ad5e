/**
 * The names and addresses of this server, from its settings and the network interfaces. They are
 * used for the serving certificate, the endpoints of the kubernetes service and the kubeconfig.
 * Nothing here resolves names.
 */
import { formatCidr, formatIp, isIpv6, isV4Bytes, parseCidr, parseIp } from '#api/ip-address.ts'
import type { Settings } from '#settings/flags.ts'

/** The machine's properties as the operating system reports them. */
export interface Machine {
  readonly hostname: string
  /** Addresses of the non-loopback interfaces, in the system's order. */
  readonly addresses: readonly string[]
}

type Wanted = Pick<Settings, 'bindAddress' | 'advertiseAddress' | 'serviceClusterIpRange'> &
  Partial<Pick<Settings, 'externalHostname'>>

/** Whether the address is the wildcard address: 0.0.0.0 or ::. */
function isUnspecified(address: string): boolean {
  const ip = parseIp(address)
  return ip !== undefined && ['0.0.0.0', '::'].includes(formatIp(ip))
}

/** The address at which clients and other servers reach this server. */
export function advertisedAddress(settings: Wanted, machine: Machine): string {
  const stated = settings.advertiseAddress
  if (stated !== undefined && !isUnspecified(stated)) return stated
  if (!isUnspecified(settings.bindAddress)) return settings.bindAddress
  const v6 = settings.bindAddress !== '0.0.0.0'
  const usable = machine.addresses.filter((address) => !/^fe80:/i.test(address))
  const sameFamily = usable.find((address) => isIpv6(address) === v6)
  return sameFamily ?? usable[0] ?? '127.0.0.1'
}

/** The URL for a user on this machine. */
export function localUrl(settings: Wanted & Pick<Settings, 'securePort'>): string {
  const { bindAddress, securePort } = settings
  const address = isUnspecified(bindAddress) ? '127.0.0.1' : bindAddress
  return `https://${isIpv6(address) ? `[${address}]` : address}:${securePort}`
}

/** The host and port that clients should use. */
export function externalAddress(
  settings: Wanted & Pick<Settings, 'securePort' | 'externalHostname'>,
): string {
  const { externalHostname: host, securePort } = settings
  if (host === undefined) return new URL(localUrl(settings)).host
  if (/^([^:[\]]*|\[[^[\]]*\]):[^:]*$/.test(host)) return host
  return hostAndPort(host, securePort)
}

/** A block as Go prints it: `10.0.0.0/24` for `10.0.0.7/24`. */
export function networkOf(block: string): string {
  const cidr = parseCidr(block)
  return cidr === undefined ? block : formatCidr(cidr)
}

/** The first address of a service block, which belongs to the kubernetes service. */
export function firstServiceAddress(block: string): string {
  const cidr = parseCidr(block)
  if (cidr === undefined) throw new Error(`${block} is no block of addresses`)
  const first = Uint8Array.from(cidr.network)
  for (let i = first.length - 1; i >= 0; i--) {
    first[i] = ((first[i] as number) + 1) & 0xff
    if (first[i] !== 0) break
  }
  return formatIp(first)
}

const hostnamePattern = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i

export interface ServingNames {
  readonly dnsNames: readonly string[]
  readonly addresses: readonly string[]
}

/** All names and addresses by which clients may call the server. */
export function servingNames(settings: Wanted, machine: Machine): ServingNames {
  const service = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc']
  const external = settings.externalHostname?.replace(/:\d+$/, '') ?? ''
  const names = [machine.hostname, external].filter((name) => hostnamePattern.test(name))
  const listening = isUnspecified(settings.bindAddress) ? machine.addresses : [settings.bindAddress]
  return {
    dnsNames: unique([
      'localhost',
      ...service,
      'kubernetes.default.svc.cluster.local',
      ...names.filter((name) => parseIp(name) === undefined),
    ]),
    addresses: unique([
      '127.0.0.1',
      '::1',
      ...settings.serviceClusterIpRange.map(firstServiceAddress),
      ...listening,
      advertisedAddress(settings, machine),
      ...(parseIp(external) === undefined ? [] : [external]),
    ]),
  }
}

const unique = (values: readonly string[]) => [...new Set(values)]

/** An address as a certificate holds it: four bytes or sixteen. */
export function addressBytes(address: string): Uint8Array {
  const ip = parseIp(address)
  if (ip === undefined) throw new Error(`${address} is no IP address`)
  return isV4Bytes(ip) ? ip.subarray(12) : ip
}

/** `192.0.2.1:6443`, `[2001:db8::1]:6443` */
export const hostAndPort = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
