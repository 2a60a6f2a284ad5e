/** A service has at most one address of each IP family, in the order of its families. */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { isHeadless, specOf } from './service-shape.ts'

const ipsPath = FieldPath.of('spec', 'clusterIPs')

/** `isV6`: releases differ in whether an address may have leading zeros. */
export function checkFamiliesOf(
  service: KubeObject,
  ips: string[],
  isV6: (ip: string) => boolean,
): FieldError[] {
  const errors: FieldError[] = []
  const spec = specOf(service)
  if (ips.length > 1 && new Set(ips.map(isV6)).size < 2) {
    const detail = 'may specify no more than one IP for each IP family'
    errors.push(invalid(ipsPath, asGo(goStrings(spec.clusterIPs)), detail))
  }
  if (isHeadless(service)) return errors
  for (const [i, ip] of ips.entries()) {
    const family = spec.ipFamilies?.[i]
    if (family === undefined) break
    if ((family === 'IPv4' && isV6(ip)) || (family === 'IPv6' && !isV6(ip))) {
      const detail = `expected an ${family} value as indicated by \`ipFamilies[${i}]\``
      errors.push(invalid(ipsPath.index(i), ip, detail))
    }
  }
  return errors
}
