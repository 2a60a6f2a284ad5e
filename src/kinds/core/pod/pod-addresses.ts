/**
 * The addresses of a pod and of its host: at most one per family. A separate field has the first
 * one too.
 */
import { duplicate, type FieldError, internalFieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goList } from '#api/go-syntax.ts'
import { isIp, isIpv4, isIpv6 } from '#api/ip-address.ts'
import { ipAddress } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change } from '#api/releases/change.ts'
import { errorsShowJson } from '#api/release-words.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { checkLegacyIp, legacyIpWarnings } from '#kinds/all-kinds/legacy-addresses.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import { goPodIp } from '#kinds/pod-template/go-values.ts'
import type { PodRules } from '#kinds/pod-template/pod-rules.ts'

const staysAsStored = change('addresses of a stored pod may stay as they are', { since: 33 })
const repeatedAreDuplicates = change('a repeated address in podIPs is a duplicate', { until: 32 })
const bothAreSet = change('podIP and podIPs must both be set or both be unset', { since: 37 })
const hostIpsAreValidated = change('hostIPs of pods are validated', { since: 28 })

const path = FieldPath.of('status', 'podIPs')
const hostPath = FieldPath.of('status', 'hostIPs')
const ipsOf = (list: Loose[] | null | undefined): string[] =>
  (list ?? []).map(({ ip }): string => ip ?? '')

export function checkPodIps(next: KubeObject, old: KubeObject, rules: PodRules): FieldError[] {
  const podIps: Loose[] = next.status?.podIPs ?? []
  const ips = ipsOf(podIps)
  const errors = checkEach(ips, ipsOf(old.status?.podIPs), path, rules)
  const shown = rules.has(errorsShowJson)
    ? internalValue('io.k8s.api.core.v1.PodIP', podIps)
    : asGo(goList('core.PodIP', podIps.map(goPodIp)))
  errors.push(...checkFamilies(ips, shown, path, rules))
  // Later releases report a repeated address only as a second one of its family.
  if (rules.has(repeatedAreDuplicates)) errors.push(...checkDoubles(podIps))
  const single: string = next.status?.podIP ?? ''
  if (!rules.has(bothAreSet)) return errors
  if ((single === '') !== (ips.length === 0)) {
    errors.push(invalid(path, shown, 'podIP and podIPs must either both be set or both be unset'))
  } else if (ips.length > 0 && single !== ips[0]) {
    errors.push(invalid(path.index(0).child('ip'), ips[0], 'must be equal to `podIP`'))
  }
  return errors
}

function checkEach(ips: string[], stored: string[], at: FieldPath, rules: PodRules): FieldError[] {
  return ips.flatMap((ip, i) =>
    rules.has(staysAsStored)
      ? checkLegacyIp(ip, at.index(i), rules, stored)
      : each(at.index(i), ip, ipAddress(ip)),
  )
}

const showsInvalidIp = change('errors of podIPs show the address that is invalid', { since: 27 })

function checkFamilies(
  ips: string[],
  shown: unknown,
  at: FieldPath,
  { has }: PodRules,
): FieldError[] {
  if (ips.length < 2) return []
  const errors: FieldError[] = []
  const areIps = ips.every(isIp)
  if (!areIps) {
    const wrong = ips.findIndex((ip) => !isIp(ip))
    const problem = has(showsInvalidIp)
      ? `invalid IP[${wrong}]: ${ips[wrong]}`
      : 'ip <nil> is invalid'
    const detail = `failed to check for dual stack with error:${problem}`
    errors.push(internalFieldError(at, detail))
  }
  const dual = areIps && ips.some(isIpv4) && ips.some(isIpv6)
  if (dual && ips.length === 2) return errors
  return [...errors, invalid(at, shown, 'may specify no more than one IP for each IP family')]
}

function checkDoubles(podIps: Loose[]): FieldError[] {
  if (podIps.length < 2) return []
  const seen = new Set<string>()
  return podIps.flatMap((podIp, i) => {
    const ip: string = podIp.ip ?? ''
    const isDouble = seen.has(ip)
    seen.add(ip)
    return isDouble ? [duplicate(path.index(i), asGo(goPodIp(podIp)))] : []
  })
}

export function checkHostIps(next: KubeObject, old: KubeObject, rules: PodRules): FieldError[] {
  const hostIps: Loose[] = next.status?.hostIPs ?? []
  const ips = ipsOf(hostIps)
  if (ips.length === 0 || !rules.has(hostIpsAreValidated)) return []
  const errors: FieldError[] = []
  if ((next.status?.hostIP ?? '') !== ips[0]) {
    errors.push(invalid(hostPath.index(0).child('ip'), ips[0], 'must be equal to `hostIP`'))
  }
  errors.push(...checkEach(ips, ipsOf(old.status?.hostIPs), hostPath, rules))
  const shown = internalValue('io.k8s.api.core.v1.HostIP', hostIps)
  return [...errors, ...checkFamilies(ips, shown, hostPath, rules)]
}

export const statusWarnings = ({ status }: KubeObject, release: number): string[] =>
  [path, hostPath].flatMap((at, k) =>
    ipsOf(k === 0 ? status?.podIPs : status?.hostIPs).flatMap((ip, i) =>
      legacyIpWarnings(ip, at.index(i).child('ip'), release),
    ),
  )
