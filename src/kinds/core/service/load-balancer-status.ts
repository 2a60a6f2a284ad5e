/** Validation of the load balancer status of services and ingresses. */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { isIp } from '#api/ip-address.ts'
import { dns1123Subdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { checkLegacyIp, legacyIpWarnings } from '#kinds/all-kinds/legacy-addresses.ts'
import type { Context } from '#kinds/kind.ts'
import { isLoadBalancer } from './service-shape.ts'

const path = FieldPath.of('status', 'loadBalancer', 'ingress')

const givesExamples = change('errors of load balancer addresses have examples', { since: 30 })
const onlyBalancers = change('only services of type LoadBalancer report load balancers', {
  since: 29,
})
const warnsOfAddresses = change('warnings about addresses in the status of a service', {
  since: 33,
})

const ingressOf = (object: KubeObject | undefined): Loose[] =>
  object?.status?.loadBalancer?.ingress ?? []

/** Without `context`: as up to 1.22. */
export function checkLoadBalancerStatus(
  object: KubeObject,
  context?: Context,
  old?: KubeObject,
): FieldError[] {
  const before = ingressOf(old).flatMap(({ ip }) => (ip ? [ip] : []))
  return ingressOf(object).flatMap(({ ip, hostname }, i) => [
    ...(ip ? checkIp(ip, path.index(i).child('ip'), before, context) : []),
    ...(hostname ? checkHostname(hostname, path.index(i).child('hostname')) : []),
  ])
}

function checkIp(
  ip: string,
  at: FieldPath,
  before: readonly string[],
  context: Context | undefined,
): FieldError[] {
  if (context !== undefined && releaseOf(context.release).has(givesExamples)) {
    return checkLegacyIp(ip, at, context, before)
  }
  return isIp(ip) ? [] : [invalid(at, ip, 'must be a valid IP address')]
}

function checkHostname(hostname: string, at: FieldPath): FieldError[] {
  const errors = each(at, hostname, dns1123Subdomain(hostname))
  if (!isIp(hostname)) return errors
  return [...errors, invalid(at, hostname, 'must be a DNS name, not an IP address')]
}

export function checkServiceStatus(
  next: KubeObject,
  old: KubeObject,
  context: Context,
): FieldError[] {
  const ingress = ingressOf(next)
  const isRefused =
    releaseOf(context.release).has(onlyBalancers) &&
    !context.feature('AllowServiceLBStatusOnNonLB') &&
    !isLoadBalancer(next)
  if (isRefused && ingress.length > 0) {
    return [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")]
  }
  const before = ingressOf(old).flatMap(({ ip }) => (ip ? [ip] : []))
  return ingress.flatMap(({ ip, hostname, ipMode }, i) => [
    ...(ip ? checkIp(ip, path.index(i).child('ip'), before, context) : []),
    ...checkIpMode(ip, ipMode, path.index(i).child('ipMode'), context),
    ...(hostname ? checkHostname(hostname, path.index(i).child('hostname')) : []),
  ])
}

function checkIpMode(
  ip: string | undefined,
  mode: string | undefined,
  at: FieldPath,
  { feature }: Context,
): FieldError[] {
  if (mode === undefined) {
    const isNeeded = ip && feature('LoadBalancerIPMode')
    return isNeeded ? [required(at, 'must be specified when `ip` is set')] : []
  }
  if (!ip) return [forbidden(at, 'may not be specified when `ip` is not set')]
  const modes = ['Proxy', 'VIP']
  return modes.includes(mode) ? [] : [notSupported(at, mode, modes)]
}

export function dropIpModes(next: KubeObject, old: KubeObject, { feature }: Context): void {
  const isUsed = ingressOf(old).some(({ ipMode }) => ipMode !== undefined)
  if (feature('LoadBalancerIPMode') || isUsed) return
  for (const entry of ingressOf(next)) delete entry.ipMode
}

export function statusWarnings(next: KubeObject, _old: KubeObject, { release }: Context): string[] {
  if (!releaseOf(release).has(warnsOfAddresses)) return []
  return ingressOf(next).flatMap(({ ip }, i) =>
    ip ? legacyIpWarnings(ip, path.index(i), release) : [],
  )
}
