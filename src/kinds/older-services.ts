/**
 * Completes stored services of releases that had one address and no IP families. Nothing is
 * allocated, and existing fields are never changed.
 */
import { releaseOf } from '#api/releases/change.ts'
import { servicesHaveClusterIps } from './stored-fields.ts'
import type { Loose } from '#api/object-meta.ts'
import type { DefaultsContext } from './all-kinds/defaulter.ts'

const otherFamily = (family: string): string => (family === 'IPv4' ? 'IPv6' : 'IPv4')

/**
 * `ofCluster`: the families of the blocks that services get their addresses from, the preferred one
 * first.
 */
export function fillAddresses(
  service: Loose,
  ofCluster: readonly string[],
  { release, feature }: DefaultsContext,
): void {
  const spec: Loose | undefined = service.spec
  if (!spec || !releaseOf(release).has(servicesHaveClusterIps)) return
  if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP]
  if (!feature('IPv6DualStack') || spec.ipFamilies?.length || !spec.clusterIPs?.length) return
  if (spec.clusterIPs.length === 1 && spec.clusterIPs[0] === 'None') fillHeadless(spec, ofCluster)
  else {
    spec.ipFamilies = spec.clusterIPs.map((ip: string) => (ip.includes(':') ? 'IPv6' : 'IPv4'))
    spec.ipFamilyPolicy = spec.ipFamilies.length === 1 ? 'SingleStack' : 'RequireDualStack'
  }
}

/**
 * Without a selector the family of its endpoints is unknown: either is possible. With one they are
 * where the cluster's pods are.
 */
function fillHeadless(spec: Loose, [first = 'IPv4', second]: readonly string[]): void {
  const hasSelector = Object.keys(spec.selector ?? {}).length > 0
  const families = hasSelector ? [first, second] : [first, otherFamily(first)]
  spec.ipFamilies = families.filter((family) => family !== undefined)
  spec.ipFamilyPolicy = spec.ipFamilies.length > 1 ? 'PreferDualStack' : 'SingleStack'
}
