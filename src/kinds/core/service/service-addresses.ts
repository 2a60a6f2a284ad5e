/** The rules for a service's own addresses and IP families, when it is made and when it changes. */
import { duplicate, type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import { isIpv6 } from '#api/ip-address.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { repeats } from '#kinds/all-kinds/checks.ts'
import { checkLegacyIp, withoutZeros } from '#kinds/all-kinds/legacy-addresses.ts'
import type { Context } from '#kinds/kind.ts'
import { checkFamiliesOf } from './address-families.ts'
import { isExternalName, isHeadless, specOf } from './service-shape.ts'

const ipsPath = FieldPath.of('spec', 'clusterIPs')
const familiesPath = FieldPath.of('spec', 'ipFamilies')
const policyPath = FieldPath.of('spec', 'ipFamilyPolicy')
const families = ['IPv4', 'IPv6']
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
/** At most one address for each IP family. */
const addressesMax = 2

export const goAddresses = (spec: Loose) => asGo(goStrings(spec.clusterIPs))
const goFamilies = (spec: Loose) => asGo(goStrings(spec.ipFamilies, 'core.IPFamily'))
const isV6 = (address: string): boolean => isIpv6(withoutZeros(address))

/** The allocator validates addresses too, before it allocates any. */
export function checkAddresses(
  service: KubeObject,
  context: Pick<Context, 'feature'>,
  old?: KubeObject,
): FieldError[] {
  if (isExternalName(service)) return []
  const spec = specOf(service)
  const ips: string[] = spec.clusterIPs ?? []
  const errors = [...checkFirstAddress(spec, ips), ...checkFamilies(spec)]
  const policy = spec.ipFamilyPolicy
  if (policy !== undefined && !policies.includes(policy)) {
    errors.push(notSupported(policyPath, policy, policies))
  }
  const before: string[] = old === undefined ? [] : (specOf(old).clusterIPs ?? [])
  let isWrong = false
  for (const [i, ip] of ips.entries()) {
    const problems =
      i === 0 && ip === 'None'
        ? checkNone(spec, ips)
        : checkLegacyIp(ip, ipsPath.index(i), context, before)
    isWrong ||= problems.length > 0
    errors.push(...problems)
  }
  if (ips.length > addressesMax) {
    errors.push(invalid(ipsPath, goAddresses(spec), 'may only hold up to 2 values'))
  }
  return isWrong ? errors : [...errors, ...checkFamiliesOf(service, ips, isV6)]
}

/** `clusterIP` is the first of `clusterIPs`. */
function checkFirstAddress(spec: Loose, ips: string[]): FieldError[] {
  const wrong = (detail: string) => [invalid(ipsPath, goAddresses(spec), detail)]
  if (!spec.clusterIP) {
    return ips.length === 0 ? [] : wrong('must be empty when `clusterIP` is not specified')
  }
  if (ips.length === 0) return [required(ipsPath)]
  return ips[0] === spec.clusterIP ? [] : wrong('first value must match `clusterIP`')
}

function checkFamilies(spec: Loose): FieldError[] {
  const given: string[] = spec.ipFamilies ?? []
  const isRepeated = repeats(given)
  return given.flatMap((family, i) => [
    ...(families.includes(family) ? [] : [notSupported(familiesPath.index(i), family, families)]),
    ...(isRepeated[i] ? [duplicate(familiesPath.index(i), family)] : []),
  ])
}

const checkNone = (spec: Loose, ips: string[]): FieldError[] =>
  ips.length === 1
    ? []
    : [invalid(ipsPath, goAddresses(spec), "'None' must be the first and only value")]

const changed = 'may not change once set'

/** The primary address is immutable. A secondary address may be added or removed. */
export function checkAddressChanges(next: KubeObject, old: KubeObject): FieldError[] {
  if (isExternalName(next) || isExternalName(old)) return []
  if (isHeadless(next) && isHeadless(old)) return []
  const spec = specOf(next)
  const ips: string[] = spec.clusterIPs ?? []
  const then: string[] = specOf(old).clusterIPs ?? []
  const wrong = (i: number, detail: string) => invalid(ipsPath.index(i), goAddresses(spec), detail)
  if (then.length === ips.length) {
    return then.flatMap((ip, i) => (ip === ips[i] ? [] : [wrong(i, changed)]))
  }
  const errors: FieldError[] = []
  if (ips.length === 0) errors.push(wrong(0, 'primary clusterIP can not be unset'))
  if (then.length > 0 && ips.length > 0 && ips[0] !== then[0]) errors.push(wrong(0, changed))
  if (then.length > ips.length && ips.length === 1) {
    errors.push(...checkReleased(spec, 'clusterIP'))
  }
  return errors
}

function checkReleased(spec: Loose, what: string): FieldError[] {
  if (spec.ipFamilyPolicy === 'SingleStack') return []
  const detail = `must be set to 'SingleStack' when releasing the secondary ${what}`
  return [invalid(policyPath, spec.ipFamilyPolicy, detail)]
}

export function checkFamilyChanges(next: KubeObject, old: KubeObject): FieldError[] {
  if (isExternalName(next) || isExternalName(old)) return []
  if (isHeadless(next) || isHeadless(old)) return []
  const spec = specOf(next)
  const now: string[] = spec.ipFamilies ?? []
  const then: string[] = specOf(old).ipFamilies ?? []
  const at = familiesPath.index(0)
  if (then.length === now.length) {
    return then.flatMap((family, i) =>
      family === now[i] ? [] : [invalid(at, goFamilies(spec), changed)],
    )
  }
  const errors: FieldError[] = []
  if (then.length > now.length && !spec.clusterIPs?.length) {
    errors.push(invalid(at, goFamilies(spec), 'primary ipFamily can not be unset'))
  }
  // kube-apiserver shows the addresses here, not the families.
  if (now.length > 0 && then.length > 0 && now[0] !== then[0]) {
    errors.push(invalid(at, goAddresses(spec), changed))
  }
  if (then.length > now.length && now.length === 1) errors.push(...checkReleased(spec, 'ipFamily'))
  return errors
}
