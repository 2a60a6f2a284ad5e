/** Drops fields of a service whose feature gate is off, unless the old service uses them. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { dropUnlessUsed } from '#kinds/all-kinds/strategy.ts'
import type { Context } from '#kinds/kind.ts'

export function dropDisabledFields(
  next: KubeObject,
  old: KubeObject | undefined,
  context: Context,
): void {
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
    ['trafficDistribution', 'ServiceTrafficDistribution'],
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
