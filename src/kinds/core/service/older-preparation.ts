/**
 * The strategy of services up to 1.22, before validation. If an update omits allocated addresses
 * and ports, it keeps them. Fields that the new type does not use and fields of disabled features
 * are dropped. New addresses and ports are allocated elsewhere.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { servicesHaveClusterIps } from '#kinds/stored-fields.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import { keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Context } from '#kinds/kind.ts'
import { dropDisabledFields } from './disabled-fields.ts'
import { followClusterIp, keepAllocated, nameAllAddresses } from './kept-allocations.ts'
import {
  isExternalName,
  isLoadBalancer,
  needsHealthCheckPort,
  needsNodePort,
  specOf,
} from './service-shape.ts'

const keepsAllocations = change('an update of a service need not repeat what was allocated', {
  since: 20,
})

export function prepareNewService(service: KubeObject, context: Context): void {
  service.status = { loadBalancer: {} }
  service.spec ??= {}
  if (releaseOf(context.release).has(servicesHaveClusterIps)) nameAllAddresses(service.spec)
  dropDisabledFields(service, undefined, context)
}

export function prepareChangedService(next: KubeObject, old: KubeObject, context: Context): void {
  keepStatus(next, old)
  next.spec ??= {}
  const keeps = releaseOf(context.release).has(keepsAllocations)
  if (keeps) keepAllocated(next, old, needsNodePort)
  if (releaseOf(context.release).has(servicesHaveClusterIps))
    followClusterIp(next.spec, specOf(old))
  dropDisabledFields(next, old, context)
  if (keeps) dropFieldsOfOldType(next, old)
  if (context.feature('IPv6DualStack')) leaveDualStack(next.spec, specOf(old))
}

function dropFieldsOfOldType(next: KubeObject, old: KubeObject): void {
  const [spec, then] = [next.spec, specOf(old)]
  if (!isExternalName(old) && isExternalName(next)) {
    const addressesKept =
      (spec.clusterIP ?? '') === (then.clusterIP ?? '') &&
      sameJson(spec.clusterIPs, then.clusterIPs)
    if (addressesKept) {
      delete spec.clusterIP
      delete spec.clusterIPs
    }
    if (sameJson(spec.ipFamilies, then.ipFamilies)) delete spec.ipFamilies
    if (spec.ipFamilyPolicy === then.ipFamilyPolicy) delete spec.ipFamilyPolicy
  }
  if (needsNodePort(old) && !needsNodePort(next)) {
    const had = new Set((then.ports ?? []).map((port: Loose) => port.nodePort))
    const ports: Loose[] = spec.ports ?? []
    if (ports.every((port) => !port.nodePort || had.has(port.nodePort))) {
      for (const port of ports) delete port.nodePort
    }
  }
  if (needsHealthCheckPort(old) && !needsHealthCheckPort(next)) {
    const same = (spec.healthCheckNodePort ?? 0) === (then.healthCheckNodePort ?? 0)
    if (same) delete spec.healthCheckNodePort
  }
  if (!isLoadBalancer(old) || isLoadBalancer(next)) return
  for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass']) {
    if (spec[field] === then[field]) delete spec[field]
  }
}

function leaveDualStack(spec: Loose, then: Loose): void {
  const wasDual = ['RequireDualStack', 'PreferDualStack'].includes(then.ipFamilyPolicy)
  if (!wasDual || spec.ipFamilyPolicy !== 'SingleStack') return
  for (const field of ['clusterIPs', 'ipFamilies']) {
    if (spec[field]?.length > 1) spec[field] = spec[field].slice(0, 1)
  }
}
