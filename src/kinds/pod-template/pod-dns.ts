/** How names are resolved inside a pod: policy, servers, search list, and names of its own. */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import { isIp } from '#api/ip-address.ts'
import { dns1123Subdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { type PodRules, searchLimits } from './pod-rules.ts'

const policies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
/** As many as resolv.conf takes. */
const serversMax = 3

export function checkDnsPolicy(policy: string | undefined, path: FieldPath): FieldError[] {
  if (!policy) return [required(path)]
  return policies.includes(policy) ? [] : [notSupported(path, policy, policies)]
}

export function checkDnsConfig(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const config: Loose | undefined = spec.dnsConfig ?? undefined
  const servers: string[] = config?.nameservers ?? []
  if (spec.dnsPolicy === 'None') {
    const when = 'when `dnsPolicy` is None'
    if (config === undefined) return [required(path, `must provide \`dnsConfig\` ${when}`)]
    if (servers.length === 0) {
      const detail = `must provide at least one DNS nameserver ${when}`
      return [required(path.child('nameservers'), detail)]
    }
  }
  if (config === undefined) return []
  const errors: FieldError[] = []
  if (servers.length > serversMax) {
    const detail = `must not have more than ${serversMax} nameservers`
    errors.push(invalid(path.child('nameservers'), asGo(goStrings(servers)), detail))
  }
  servers.forEach((server, i) => {
    if (isIp(server)) return
    errors.push(invalid(path.child('nameservers').index(i), server, 'must be valid IP address'))
  })
  errors.push(...checkSearches(config.searches ?? [], path.child('searches'), rules))
  ;((config.options ?? []) as Loose[]).forEach((option, i) => {
    if (!option.name) errors.push(required(path.child('options').index(i), 'must not be empty'))
  })
  return errors
}

function checkSearches(searches: string[], path: FieldPath, rules: PodRules): FieldError[] {
  const errors: FieldError[] = []
  const { paths, characters } = rules.allowExpandedDns ? searchLimits.expanded : searchLimits.legacy
  if (searches.length > paths) {
    const detail = `must not have more than ${paths} search paths`
    errors.push(invalid(path, asGo(goStrings(searches)), detail))
  }
  if (Buffer.byteLength(searches.join(' ')) > characters) {
    const detail = `must not have more than ${characters} characters (including spaces) in the search list`
    errors.push(invalid(path, asGo(goStrings(searches)), detail))
  }
  searches.forEach((search, i) => {
    const name = search.endsWith('.') ? search.slice(0, -1) : search
    errors.push(...each(path.index(i), name, dns1123Subdomain(name)))
  })
  return errors
}

export function checkHostAliases(
  aliases: Loose[] | null | undefined,
  path: FieldPath,
): FieldError[] {
  return (aliases ?? []).flatMap((alias) => {
    const ip: string = alias.ip ?? ''
    const names: string[] = alias.hostnames ?? []
    return [
      ...(isIp(ip) ? [] : [invalid(path.child('ip'), ip, 'must be valid IP address')]),
      ...names.flatMap((name) => each(path.child('hostnames'), name, dns1123Subdomain(name))),
    ]
  })
}
