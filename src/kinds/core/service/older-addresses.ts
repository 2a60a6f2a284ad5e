/**
 * The rules of releases up to 1.22 for a service's own addresses and IP families, when it is made
 * and when it changes.
 */
import { duplicate, type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import { isIpv6, parseIp } from '#api/ip-address.ts'
import { ipAddress } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { each, repeats } from '#kinds/all-kinds/checks.ts'
import { checkFamiliesOf } from './address-families.ts'
import { clusterIpsOf, isExternalName, isHeadless, specOf } from './service-shape.ts'

const ipsPath = FieldPath.of('spec', 'clusterIPs')
const familiesPath = FieldPath.of('spec', 'ipFamilies')
const families = ['IPv4', 'IPv6']
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']

const goIps = (spec: Loose) => asGo(goStrings(spec.clusterIPs))
const goFamilies = (spec: Loose) => asGo(goStrings(spec.ipFamilies, 'core.IPFamily'))

export function checkAddresses(service: KubeObject): FieldError[] {
  if (isExternalName(service)) return []
  const spec = specOf(service)
  const ips: string[] = spec.clusterIPs ?? []
  const errors = checkFirstAddress(spec, ips)
  const given: string[] = spec.ipFamilies ?? []
  const isRepeated = repeats(given)
  for (const [i, family] of given.entries()) {
    if (!families.includes(family)) {
      errors.push(notSupported(familiesPath.index(i), family, families))
    }
    if (isRepeated[i]) errors.push(duplicate(familiesPath.index(i), family))
  }
  const policy = spec.ipFamilyPolicy
  if (policy !== undefined && !policies.includes(policy)) {
    errors.push(notSupported('spec.ipFamilyPolicy', policy, policies))
  }
  let wrong = false
  for (const [i, ip] of ips.entries()) {
    if (i === 0 && ip === 'None') {
      if (ips.length === 1) continue
      wrong = true
      errors.push(invalid(ipsPath, goIps(spec), "'None' must be the first and only value"))
      continue
    }
    const problems = ipAddress(ip)
    wrong ||= problems.length > 0
    errors.push(...each(ipsPath.index(i), ip, problems))
  }
  if (ips.length > 2) errors.push(invalid(ipsPath, goIps(spec), 'may only hold up to 2 values'))
  return wrong ? errors : [...errors, ...checkFamiliesOf(service, ips, isIpv6)]
}

/** The rule of releases without `clusterIPs`. */
export function checkOneAddress(service: KubeObject): FieldError[] {
  const { clusterIP = '' } = specOf(service)
  if (clusterIP === '' || clusterIP === 'None' || parseIp(clusterIP) !== undefined) return []
  return [invalid('spec.clusterIP', clusterIP, "must be empty, 'None', or a valid IP address")]
}

/** `clusterIP` is the first of `clusterIPs`. */
function checkFirstAddress(spec: Loose, ips: string[]): FieldError[] {
  if (!spec.clusterIP) {
    if (ips.length === 0) return []
    return [invalid(ipsPath, goIps(spec), 'must be empty when clusterIP is empty')]
  }
  if (ips.length === 0) return [required(ipsPath)]
  if (ips[0] === spec.clusterIP) return []
  return [invalid(ipsPath, goIps(spec), 'element [0] must match clusterIP')]
}

/** The primary address is immutable. A secondary address may be added or removed. */
export function checkAddressChanges(next: KubeObject, old: KubeObject): FieldError[] {
  if (isExternalName(next) || isExternalName(old)) return []
  if (isHeadless(next) && isHeadless(old)) return []
  const [ips, then] = [clusterIpsOf(next), clusterIpsOf(old)]
  const wrong = (i: number, detail: string) =>
    invalid(ipsPath.index(i), asGo(goStrings(specOf(next).clusterIPs)), detail)
  const changed = 'may not change once set'
  if (then.length === ips.length) {
    return then.flatMap((ip, i) => (ip === ips[i] ? [] : [wrong(i, changed)]))
  }
  const errors: FieldError[] = []
  if (ips.length === 0) errors.push(wrong(0, 'primary clusterIP can not be unset'))
  if (then.length > 0 && ips.length > 0 && ips[0] !== then[0]) errors.push(wrong(0, changed))
  if (then.length > ips.length && ips.length === 1) {
    errors.push(...checkReleased(next, 'clusterIP'))
  }
  return errors
}

function checkReleased(next: KubeObject, what: string): FieldError[] {
  if (specOf(next).ipFamilyPolicy === 'SingleStack') return []
  const detail = `\`ipFamilyPolicy\` must be set to 'SingleStack' when releasing the secondary ${what}`
  return [invalid(ipsPath.index(0), goIps(specOf(next)), detail)]
}

export function checkFamilyChanges(next: KubeObject, old: KubeObject): FieldError[] {
  if (isExternalName(next) || isExternalName(old)) return []
  if (isHeadless(next) || isHeadless(old)) return []
  const spec = specOf(next)
  const now: string[] = spec.ipFamilies ?? []
  const then: string[] = specOf(old).ipFamilies ?? []
  const at = familiesPath.index(0)
  const changed = 'may not change once set'
  if (then.length === now.length) {
    return then.flatMap((family, i) =>
      family === now[i] ? [] : [invalid(at, goFamilies(spec), changed)],
    )
  }
  const errors: FieldError[] = []
  if (then.length > now.length && !spec.clusterIPs?.length) {
    errors.push(invalid(at, goFamilies(spec), 'primary ipFamily can not be unset'))
  }
  if (now.length > 0 && then.length > 0 && now[0] !== then[0]) {
    errors.push(invalid(at, goIps(spec), changed))
  }
  if (then.length > now.length && now.length === 1) errors.push(...checkReleased(next, 'ipFamily'))
  return errors
}
