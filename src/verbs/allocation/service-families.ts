/** Determines the IP families of a service: filled in from the cluster's families, or rejected. */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import type { Context } from '#kinds/kind.ts'
import { checkAddresses, goAddresses } from '#kinds/core/service/service-addresses.ts'
import { isExternalName, specOf } from '#kinds/core/service/service-shape.ts'
import { type Family, familyOf } from './address-pool.ts'

const other = (family: Family): Family => (family === 'IPv4' ? 'IPv6' : 'IPv4')
const policyPath = FieldPath.of('spec', 'ipFamilyPolicy')

/**
 * Changes the service in place, up to the first problems. `offered`: the families of the cluster's
 * address blocks, the default one first.
 */
export function settleFamilies(
  service: KubeObject,
  old: KubeObject | undefined,
  offered: readonly Family[],
  context: Pick<Context, 'feature'>,
): FieldError[] {
  const spec = service.spec as Loose
  if (isExternalName(service) || keepsPreference(service, old)) return []
  spec.ipFamilyPolicy ??= specOf(old ?? noService).ipFamilyPolicy ?? usualPolicy(spec)
  const problems = checkAddresses(service, context, old)
  if (problems.length > 0) return problems
  const errors = [...(old === undefined ? [] : releaseSecond(spec, specOf(old)))]
  errors.push(...checkPolicy(spec), ...addFamiliesOfAddresses(spec, offered))
  if (errors.length > 0) return errors
  const isFree = isWithoutEndpoints(spec)
  if (!isFree) errors.push(...checkOffer(spec, offered))
  if (errors.length > 0) return errors
  if (!spec.ipFamilies?.length) spec.ipFamilies = [offered[0]]
  const canHaveBoth = isFree || offered.length === 2
  if (spec.ipFamilyPolicy !== 'SingleStack' && spec.ipFamilies.length === 1 && canHaveBoth) {
    spec.ipFamilies = [spec.ipFamilies[0], other(spec.ipFamilies[0])]
  }
  return []
}

const noService: KubeObject = { metadata: {} }

/** Headless services without a selector: their endpoints can have any family. */
const isWithoutEndpoints = (spec: Loose): boolean =>
  spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0

const usualPolicy = (spec: Loose): string =>
  isWithoutEndpoints(spec) ? 'RequireDualStack' : 'SingleStack'

/**
 * A service that prefers two families keeps those it has when the cluster changes, until a
 * client changes its
 * addresses, families, policy or type.
 */
export function keepsPreference(service: KubeObject, old: KubeObject | undefined): boolean {
  if (old === undefined) return false
  const [spec, then] = [specOf(service), specOf(old)]
  return (
    spec.type === then.type &&
    ['ClusterIP', 'NodePort', 'LoadBalancer'].includes(spec.type) &&
    spec.ipFamilyPolicy === 'PreferDualStack' &&
    (then.ipFamilyPolicy ?? 'PreferDualStack') === 'PreferDualStack' &&
    sameJson(spec.clusterIPs ?? [], then.clusterIPs ?? []) &&
    sameJson(spec.ipFamilies ?? [], then.ipFamilies ?? [])
  )
}

/**
 * With the policy SingleStack, secondary values that the client left unchanged are released; with
 * other policies they must not be removed.
 */
function releaseSecond(spec: Loose, then: Loose): FieldError[] {
  const fields = [
    ['clusterIPs', 'cluster IP'],
    ['ipFamilies', 'IP family'],
  ] as const
  if (spec.ipFamilyPolicy === 'SingleStack') {
    for (const [field] of fields) {
      const isKept = spec[field]?.length > 1 && sameJson(spec[field], then[field])
      if (isKept) spec[field] = spec[field].slice(0, 1)
    }
    return []
  }
  return fields.flatMap(([field, what]) => {
    const length = spec[field]?.length ?? 0
    if (length === 0 || length >= (then[field]?.length ?? 0)) return []
    const detail = `must be 'SingleStack' to release the secondary ${what}`
    return [invalid(policyPath, spec.ipFamilyPolicy, detail)]
  })
}

function checkPolicy({ ipFamilyPolicy, clusterIPs, ipFamilies }: Loose): FieldError[] {
  if (ipFamilyPolicy !== 'SingleStack') return []
  const wrong = (what: string) => {
    const detail = `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`
    return invalid(policyPath, ipFamilyPolicy, detail)
  }
  return [
    ...(clusterIPs?.length === 2 ? [wrong('cluster IPs')] : []),
    ...(ipFamilies?.length === 2 ? [wrong('IP families')] : []),
  ]
}

function addFamiliesOfAddresses(spec: Loose, offered: readonly Family[]): FieldError[] {
  const errors: FieldError[] = []
  for (const [i, address] of ((spec.clusterIPs ?? []) as string[]).entries()) {
    if (address === 'None') break
    if (i < (spec.ipFamilies?.length ?? 0)) continue
    const family = familyOf(address)
    if (offered.includes(family)) spec.ipFamilies = [...(spec.ipFamilies ?? []), family]
    else {
      const detail = `${family} is not configured on this cluster`
      errors.push(invalid(`spec.clusterIPs[${i}]`, goAddresses(spec), detail))
    }
  }
  return errors
}

function checkOffer(spec: Loose, offered: readonly Family[]): FieldError[] {
  const families: Family[] = spec.ipFamilies ?? []
  const isShort = spec.ipFamilyPolicy === 'RequireDualStack' && offered.length < 2
  const detail = 'this cluster is not configured for dual-stack services'
  return [
    ...(isShort ? [invalid(policyPath, spec.ipFamilyPolicy, detail)] : []),
    ...families.flatMap((family, i) =>
      offered.includes(family)
        ? []
        : [invalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster')],
    ),
  ]
}
