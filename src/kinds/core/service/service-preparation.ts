/**
 * The strategy of services after allocation and before validation. It keeps the status and drops
 * fields that the new type does not use, unless the client changed them too.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import { keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Context } from '#kinds/kind.ts'
import { dropDisabledFields } from './disabled-fields.ts'
import {
  isExternallyAccessible,
  isExternalName,
  isLoadBalancer,
  needsHealthCheckPort,
  needsNodePort,
  specOf,
} from './service-shape.ts'

export function prepareNewService(service: KubeObject, context: Context): void {
  service.status = { loadBalancer: {} }
  service.spec ??= {}
  dropDisabledFields(service, undefined, context)
}

export function prepareChangedService(next: KubeObject, old: KubeObject, context: Context): void {
  keepStatus(next, old)
  next.spec ??= {}
  dropDisabledFields(next, old, context)
  dropFieldsOfOldType(next, old, context.release)
}

function dropFieldsOfOldType(next: KubeObject, old: KubeObject, release: number): void {
  const [spec, then] = [next.spec, specOf(old)]
  if (!isExternalName(old) && isExternalName(next)) dropAddresses(spec, then)
  if (needsNodePort(old) && !needsNodePort(next)) {
    const had = new Set((then.ports ?? []).map((port: Loose) => port.nodePort))
    const ports: Loose[] = spec.ports ?? []
    if (ports.every((port) => !port.nodePort || had.has(port.nodePort))) {
      for (const port of ports) delete port.nodePort
    }
  }
  const dropUnchanged = (field: string) => {
    if ((spec[field] || undefined) === (then[field] || undefined)) delete spec[field]
  }
  if (needsHealthCheckPort(old) && !needsHealthCheckPort(next)) dropUnchanged('healthCheckNodePort')
  if (isLoadBalancer(old) && !isLoadBalancer(next)) {
    dropUnchanged('allocateLoadBalancerNodePorts')
    dropUnchanged('loadBalancerClass')
  }
  if (isExternallyAccessible(old, release) && !isExternallyAccessible(next, release)) {
    dropUnchanged('externalTrafficPolicy')
  }
  // The load balancer's deletion takes time, so its status is removed at once.
  if (!isLoadBalancer(next)) next.status = { ...next.status, loadBalancer: {} }
}

function dropAddresses(spec: Loose, then: Loose): void {
  const isSame =
    (spec.clusterIP ?? '') === (then.clusterIP ?? '') && sameJson(spec.clusterIPs, then.clusterIPs)
  if (isSame) {
    delete spec.clusterIP
    delete spec.clusterIPs
  }
  if (sameJson(spec.ipFamilies, then.ipFamilies)) delete spec.ipFamilies
  if (spec.ipFamilyPolicy === then.ipFamilyPolicy) delete spec.ipFamilyPolicy
}
