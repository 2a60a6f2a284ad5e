/**
 * The addresses that the proxy subresources may call. Users write the addresses of pods, services
 * and nodes. These must not lead to this machine or to link-local addresses. A name is resolved
 * once, and the checked address is called.
 */
import type { LookupAddress } from 'node:dns'
import { lookup as systemLookup } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { lookupWords } from '#access/lookup-words.ts'
import { badRequest } from '#api/status-error.ts'

const refused = new BlockList()
const neverProxied: readonly [string, number, 'ipv4' | 'ipv6'][] = [
  ['0.0.0.0', 32, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['224.0.0.0', 4, 'ipv4'],
  ['255.255.255.255', 32, 'ipv4'],
  ['::', 128, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
]
for (const [network, bits, family] of neverProxied) refused.addSubnet(network, bits, family)

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addSubnet('::1', 128, 'ipv6')

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** The block list treats IPv4-mapped IPv6 addresses like the IPv4 addresses. */
export function isAllowed(address: string, loopbackAllowed: boolean): boolean {
  if (isIP(address) === 0) return false
  const family = familyOf(address)
  if (refused.check(address, family)) return false
  return loopbackAllowed || !loopback.check(address, family)
}

export function requireAllowed(address: string, loopbackAllowed: boolean): void {
  if (!isAllowed(address, loopbackAllowed)) throw badRequest('address not allowed')
}

/** Resolves a host name or address to one allowed address. */
export async function resolveAllowed(
  host: string,
  loopbackAllowed: boolean,
  lookup = (name: string) => systemLookup(name, { all: true }),
): Promise<string> {
  if (isIP(host) !== 0) {
    requireAllowed(host, loopbackAllowed)
    return host
  }
  const found = await lookup(host).catch(({ code, message }: NodeJS.ErrnoException) => {
    throw badRequest(lookupWords(code ?? '', host) ?? message)
  })
  if (found.length === 0) throw badRequest('No addresses for hostname')
  for (const { address } of found) requireAllowed(address, loopbackAllowed)
  return found[0].address
}

type Resolve = (name: string) => Promise<LookupAddress[]>

/**
 * Resolves the name of a kubelet, which may run on this machine. Link-local and unspecified
 * addresses are rejected.
 */
export const kubeletLookup =
  (resolve: Resolve = (name) => systemLookup(name, { all: true })): LookupFunction =>
  (name, options, done) => {
    const failed = (error: NodeJS.ErrnoException) => done(error, '')
    resolve(name).then((found) => {
      const [first] = found
      if (first === undefined || !found.every(({ address }) => isAllowed(address, true)))
        return failed(new Error('address not allowed'))
      if (options.all) done(null, found)
      else done(null, first.address, first.family)
    }, failed)
  }
