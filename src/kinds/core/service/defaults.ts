/** Defaults of Service. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { isExternallyAccessible, needsInternalTrafficPolicy } from './service-shape.ts'

/** Three hours. */
const affinitySeconds = 10800

function setAffinity(spec: Loose): void {
  spec.sessionAffinity ||= 'None'
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
  if (spec.sessionAffinity !== 'ClientIP') return
  if ((spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? undefined) === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: affinitySeconds } }
  }
}

function setIpModes(status: Loose | undefined): void {
  for (const entry of status?.loadBalancer?.ingress ?? []) if (entry.ip) entry.ipMode ??= 'VIP'
}

const service: Defaulter = (value, { feature, release }) => {
  const spec: Loose = (value.spec ??= {})
  setAffinity(spec)
  spec.type ||= 'ClusterIP'
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP'
    port.targetPort ||= port.port ?? 0
  }
  if (isExternallyAccessible(value as KubeObject, release)) {
    spec.externalTrafficPolicy ||= 'Cluster'
  }
  if (feature('ServiceInternalTrafficPolicy') && needsInternalTrafficPolicy(spec, release)) {
    spec.internalTrafficPolicy ??= 'Cluster'
  }
  if (spec.type === 'LoadBalancer' && feature('ServiceLBNodePortControl')) {
    spec.allocateLoadBalancerNodePorts ??= true
  }
  if (spec.type === 'LoadBalancer' && feature('LoadBalancerIPMode')) setIpModes(value.status)
}

export const serviceDefaults: Defaulters = { 'io.k8s.api.core.v1.Service': service }
