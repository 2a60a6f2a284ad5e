/** Defaults of services and endpoints. */
import type { Loose } from '#api/object-meta.ts'
import type { Defaulter, Defaulters } from './defaulter.ts'

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

const slicePort: Defaulter = (value) => {
  value.name ??= ''
  value.protocol ??= 'TCP'
}

export const serviceDefaults: Defaulters = {
  'io.k8s.api.core.v1.Service': service,
  'io.k8s.api.core.v1.EndpointPort': (value) => {
    value.protocol ||= 'TCP'
  },
  'io.k8s.api.discovery.v1.EndpointPort': slicePort,
  'io.k8s.api.discovery.v1beta1.EndpointPort': slicePort,
  'io.k8s.api.discovery.v1alpha1.EndpointPort': slicePort,
}
