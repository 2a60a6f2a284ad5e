/** Go's error for a host name that cannot be resolved: the DNS server and the result. */
import { getServers } from 'node:dns'
import { isIP } from 'node:net'

const problems: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'no such host'],
  ['EAI_AGAIN', 'server misbehaving'],
])

/** Undefined if the code is not a DNS error. */
export function lookupWords(
  code: string,
  host: string,
  servers: readonly string[] = getServers(),
): string | undefined {
  const problem = problems.get(code)
  if (problem === undefined) return undefined
  const [first] = servers
  if (first === undefined) return `lookup ${host}: ${problem}`
  const version = isIP(first)
  const requested = version === 0 ? first : version === 6 ? `[${first}]:53` : `${first}:53`
  return `lookup ${host} on ${requested}: ${problem}`
}
