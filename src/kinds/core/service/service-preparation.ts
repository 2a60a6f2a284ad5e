/**
 * What happens to a service before it is checked: addresses and ports it had are kept when an update leaves them
 * out, fields its new type has no use for are dropped, and so are fields of disabled features.
 * New addresses and ports are given elsewhere.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { servicesHaveClusterIps } from '#kinds/stored-fields.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import { dropUnlessUsed, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Context } from '#kinds/kind.ts'
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
  const spec = (service.spec ??= {})
  if (
    releaseOf(context.release).has(servicesHaveClusterIps) &&
    spec.clusterIP &&
    !spec.clusterIPs?.length
  ) {
    spec.clusterIPs = [spec.clusterIP]
  }
  dropDisabledFields(service, undefined, context)
}

export function prepareChangedService(next: KubeObject, old: KubeObject, context: Context): void {
  keepStatus(next, old)
  next.spec ??= {}
  const keeps = releaseOf(context.release).has(keepsAllocations)
  if (keeps) keepAllocated(next, old)
  if (releaseOf(context.release).has(servicesHaveClusterIps))
    followClusterIp(next.spec, specOf(old))
  dropDisabledFields(next, old, context)
  if (keeps) dropFieldsOfOldType(next, old)
  if (context.feature('IPv6DualStack')) leaveDualStack(next.spec, specOf(old))
}

function dropDisabledFields(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const spec: Loose = next.spec
  const then: Loose = old?.spec ?? {}
  const families = then.ipFamilyPolicy || then.ipFamilies?.length || then.clusterIPs?.length > 1
  if (!context.feature('IPv6DualStack') && !families) {
    delete spec.ipFamilies
    delete spec.ipFamilyPolicy
    if (spec.clusterIPs?.length > 1) spec.clusterIPs = spec.clusterIPs.slice(0, 1)
  }
  const gates: [string, string][] = [
    ['allocateLoadBalancerNodePorts', 'ServiceLBNodePortControl'],
    ['loadBalancerClass', 'ServiceLoadBalancerClass'],
    ['internalTrafficPolicy', 'ServiceInternalTrafficPolicy'],
  ]
  for (const [field, gate] of gates) {
    dropUnlessUsed(spec, field, context.feature(gate), then[field] !== undefined)
  }
  dropUnlessUsed(spec, 'ipFamily', context.feature('IPv6DualStack'), then.ipFamily !== undefined)
  const topology = context.feature('ServiceTopology')
  dropUnlessUsed(spec, 'topologyKeys', topology, then.topologyKeys?.length > 0)
  const mixed = context.feature('MixedProtocolLBService')
  dropUnlessUsed(next.status, 'conditions', mixed, old?.status?.conditions !== undefined)
  const ingress: Loose[] = next.status?.loadBalancer?.ingress ?? []
  const oldIngress: Loose[] = old?.status?.loadBalancer?.ingress ?? []
  const portsUsed = oldIngress.some((entry) => entry.ports !== undefined)
  for (const entry of ingress) dropUnlessUsed(entry, 'ports', mixed, portsUsed)
}

/** An update that says nothing about an allocated value keeps it. */
function keepAllocated(next: KubeObject, old: KubeObject): void {
  const [spec, then] = [next.spec, specOf(old)]
  if (!isExternalName(old) && !isExternalName(next)) {
    if (!spec.clusterIP && then.clusterIP) spec.clusterIP = then.clusterIP
    if (!spec.clusterIPs?.length && then.clusterIPs) spec.clusterIPs = [...then.clusterIPs]
  }
  if (needsNodePort(old) && needsNodePort(next)) keepNodePorts(spec.ports ?? [], then.ports ?? [])
  if (needsHealthCheckPort(old) && needsHealthCheckPort(next) && !spec.healthCheckNodePort) {
    if (then.healthCheckNodePort) spec.healthCheckNodePort = then.healthCheckNodePort
  }
}

/** By the names of ports, unless the old port number is taken by another port already. */
function keepNodePorts(ports: Loose[], oldPorts: Loose[]): void {
  const numbers = (list: Loose[]) => new Set(list.map((port) => port.nodePort).filter(Boolean))
  const old = numbers(oldPorts)
  const used = new Set([...numbers(ports)].filter((number) => old.has(number)))
  const byName = new Map(oldPorts.map((port) => [port.name ?? '', port.nodePort]))
  for (const port of ports) {
    const number = byName.get(port.name ?? '')
    if (!port.nodePort && number && !used.has(number)) port.nodePort = number
  }
}

/** `clusterIP` and `clusterIPs` are one thing said twice: an update through the one moves the other. */
function followClusterIp(spec: Loose, then: Loose): void {
  const same = () => sameJson(spec.clusterIPs, then.clusterIPs)
  const [ip, oldIp] = [spec.clusterIP ?? '', then.clusterIP ?? '']
  if (then.clusterIPs?.length && !spec.clusterIPs?.length && ip === oldIp) {
    spec.clusterIPs = [...then.clusterIPs]
  }
  if (ip === oldIp || !same()) return
  if (oldIp !== '' && ip === '') delete spec.clusterIPs
  else spec.clusterIPs = [ip]
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
