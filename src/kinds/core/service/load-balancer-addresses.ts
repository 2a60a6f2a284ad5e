/** The addresses a load balancer gave an object, in one cell. */
import { byCodePoint } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'

export function loadBalancerAddresses(object: KubeObject): string {
  const ingress: Loose[] = object.status?.loadBalancer?.ingress ?? []
  const addresses = ingress.map(({ ip, hostname }) => ip || hostname || '').filter(Boolean)
  return [...new Set(addresses)].sort(byCodePoint).join(',')
}
