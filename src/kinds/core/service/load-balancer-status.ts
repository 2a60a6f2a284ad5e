/** What services and ingresses say of the load balancers they were given. */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { isIp } from '#api/ip-address.ts'
import { dns1123Subdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { each } from '#kinds/all-kinds/checks.ts'

export function checkLoadBalancerStatus(object: KubeObject): FieldError[] {
  const path = FieldPath.of('status', 'loadBalancer', 'ingress')
  const ingress: Loose[] = object.status?.loadBalancer?.ingress ?? []
  return ingress.flatMap(({ ip, hostname }, i) => {
    const errors: FieldError[] = []
    if (ip && !isIp(ip)) {
      errors.push(invalid(path.index(i).child('ip'), ip, 'must be a valid IP address'))
    }
    if (!hostname) return errors
    const at = path.index(i).child('hostname')
    errors.push(...each(at, hostname, dns1123Subdomain(hostname)))
    if (isIp(hostname)) errors.push(invalid(at, hostname, 'must be a DNS name, not an IP address'))
    return errors
  })
}
