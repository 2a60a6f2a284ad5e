/** Warnings for fields of a service that are deprecated, unusual or without effect. */
import { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { legacyCidrWarnings, legacyIpWarnings } from '#kinds/all-kinds/legacy-addresses.ts'
import type { Context } from '#kinds/kind.ts'
import { ownValue } from '#kinds/own-key.ts'
import { clusterIpsOf, isExternalName, specOf } from './service-shape.ts'

export const topologyHints = 'service.kubernetes.io/topology-aware-hints'
export const topologyMode = 'service.kubernetes.io/topology-mode'
const path = FieldPath.of('spec')

const warns = change('warnings about services', { since: 27 })
const warnsOfNames = change('warnings about external names and addresses without effect', {
  since: 28,
})
const warnsOfHeadless = change('warnings about fields without effect for headless services', {
  since: 34,
})
const warnsOfClose = change('the trafficDistribution PreferClose is deprecated', { since: 35 })
const warnsOfExternalIps = change('the externalIPs of services are deprecated', { since: 36 })

export function serviceWarnings(service: KubeObject, { release }: Context): string[] {
  if (!releaseOf(release).has(warns)) return []
  const spec = specOf(service)
  const isHeadless = spec.type === 'ClusterIP' && spec.clusterIP === 'None'
  const warnings: string[] = []
  if (ownValue(service.metadata.annotations, topologyHints) !== undefined) {
    warnings.push(`annotation ${topologyHints} is deprecated, please use ${topologyMode} instead`)
  }
  const ofIps = (ips: readonly string[], field: string) =>
    ips.flatMap((ip, i) => legacyIpWarnings(ip, path.child(field).index(i), release))
  if (spec.clusterIP && spec.clusterIP !== 'None') {
    warnings.push(...ofIps(clusterIpsOf(service), 'clusterIPs'))
  }
  if (isHeadless && releaseOf(release).has(warnsOfHeadless)) warnings.push(...ignored(service))
  const externalIps: string[] = spec.externalIPs ?? []
  warnings.push(...ofIps(externalIps, 'externalIPs'))
  const usesExternalIps = externalIps.length > 0 && !isHeadless && !isExternalName(service)
  if (usesExternalIps && releaseOf(release).has(warnsOfExternalIps)) {
    const detail = 'is deprecated and may no longer be implemented in some clusters'
    warnings.push(`spec.externalIPs ${detail}`)
  }
  if (spec.loadBalancerIP) {
    warnings.push(...legacyIpWarnings(spec.loadBalancerIP, path.child('loadBalancerIP'), release))
  }
  for (const [i, range] of ((spec.loadBalancerSourceRanges ?? []) as string[]).entries()) {
    const at = path.child('loadBalancerSourceRanges').index(i)
    warnings.push(...legacyCidrWarnings(range, at, release))
  }
  if (releaseOf(release).has(warnsOfNames)) warnings.push(...nameWarnings(service))
  if (spec.trafficDistribution === 'PreferClose' && releaseOf(release).has(warnsOfClose)) {
    const [old, better] = [goQuote('PreferClose'), goQuote('PreferSameZone')]
    warnings.push(`spec.trafficDistribution: ${old} is deprecated; use ${better}`)
  }
  return warnings
}

function ignored(service: KubeObject): string[] {
  const spec = specOf(service)
  const fields = [
    ...(spec.loadBalancerIP ? ['loadBalancerIP'] : []),
    ...(spec.externalIPs?.length > 0 ? ['externalIPs'] : []),
    ...(spec.sessionAffinity === 'None' ? [] : ['SessionAffinity']),
  ]
  return fields.map((field) => `spec.${field} is ignored for headless services`)
}

function nameWarnings(service: KubeObject): string[] {
  const spec = specOf(service)
  const type = goQuote('ExternalName')
  if (isExternalName(service)) {
    return spec.externalIPs?.length > 0
      ? [`spec.externalIPs is ignored when spec.type is ${type}`]
      : []
  }
  return spec.externalName ? [`spec.externalName is ignored when spec.type is not ${type}`] : []
}
