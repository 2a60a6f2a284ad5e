/** Validation of the DNS policy, dnsConfig and hostAliases of a pod. */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import { dns1123Subdomain, dns1123SubdomainWithUnderscore } from '#api/names.ts'
import { change } from '#api/releases/change.ts'
import type { Loose } from '#api/object-meta.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { checkPodAddress } from './pod-addresses.ts'
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
    errors.push(...checkPodAddress(server, path.child('nameservers').index(i), rules))
  })
  errors.push(...checkSearches(config.searches ?? [], path.child('searches'), rules))
  ;((config.options ?? []) as Loose[]).forEach((option, i) => {
    if (!option.name) errors.push(required(path.child('options').index(i), 'must not be empty'))
  })
  return errors
}

const searchesCanBeAnything = change('DNS search paths can have underscores and be a dot', {
  since: 32,
})
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
  const nameRule = rules.has(searchesCanBeAnything)
    ? dns1123SubdomainWithUnderscore
    : dns1123Subdomain
  searches.forEach((search, i) => {
    if (search === '.' && rules.has(searchesCanBeAnything)) return
    const name = search.endsWith('.') ? search.slice(0, -1) : search
    errors.push(...each(path.index(i), name, nameRule(name)))
  })
  return errors
}

const namesAlias = change('errors of hostAliases name the item', { since: 30 })

export function checkHostAliases(
  aliases: Loose[] | null | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const withIndex = rules.has(namesAlias)
  return (aliases ?? []).flatMap((alias, i) => {
    const at = withIndex ? path.index(i) : path
    const names: string[] = alias.hostnames ?? []
    return [
      ...checkPodAddress(alias.ip ?? '', at.child('ip'), rules),
      ...names.flatMap((name, k) => {
        const nameAt = at.child('hostnames')
        return each(withIndex ? nameAt.index(k) : nameAt, name, dns1123Subdomain(name))
      }),
    ]
  })
}
