/** Defaults of Service. */
import type { Loose } from '#api/object-meta.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

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

const service: Defaulter = (value, { feature }) => {
  const spec: Loose = (value.spec ??= {})
  setAffinity(spec)
  spec.type ||= 'ClusterIP'
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP'
    port.targetPort ||= port.port ?? 0
  }
  if (spec.type === 'NodePort' || spec.type === 'LoadBalancer') {
    spec.externalTrafficPolicy ||= 'Cluster'
  }
  if (feature('ServiceInternalTrafficPolicy')) spec.internalTrafficPolicy ??= 'Cluster'
  if (spec.type === 'LoadBalancer' && feature('ServiceLBNodePortControl')) {
    spec.allocateLoadBalancerNodePorts ??= true
  }
}

export const serviceDefaults: Defaulters = { 'io.k8s.api.core.v1.Service': service }
