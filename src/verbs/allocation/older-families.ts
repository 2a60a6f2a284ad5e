/**
 * Determines the IP families of a service in releases up to 1.22: filled in from the cluster's
 * families, or rejected.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { invalidObject } from '#api/status-error.ts'
import { type Family, familyOf } from './address-pool.ts'

const other = (family: Family): Family => (family === 'IPv4' ? 'IPv6' : 'IPv4')

function refuse(service: KubeObject, errors: FieldError[]): void {
  if (errors.length > 0)
    throw invalidObject({ group: '', kind: 'Service' }, service.metadata.name ?? '', errors)
}

/**
 * Changes the service in place. `offered`: the families of the cluster's address blocks, the
 * default one first.
 */
export function settleFamilies(service: KubeObject, offered: readonly Family[]): void {
  const spec = service.spec as Loose
  if (spec.type === 'ExternalName') return
  refuse(service, policyErrors(spec))
  addFamiliesOfAddresses(service, spec, offered)
  if (spec.ipFamilyPolicy === undefined && spec.ipFamilies?.length === 2)
    spec.ipFamilyPolicy = 'RequireDualStack'
  const headlessWithoutSelector =
    spec.clusterIPs?.[0] === 'None' && Object.keys(spec.selector ?? {}).length === 0
  if (headlessWithoutSelector) {
    spec.ipFamilyPolicy ??= 'RequireDualStack'
    if (!spec.ipFamilies?.length) spec.ipFamilies = [offered[0]]
    if (spec.ipFamilies.length < 2 && spec.ipFamilyPolicy !== 'SingleStack') {
      spec.ipFamilies = [spec.ipFamilies[0], other(spec.ipFamilies[0])]
    }
    return
  }
  refuse(service, offerErrors(spec, offered))
  spec.ipFamilyPolicy ??= 'SingleStack'
  if (!spec.ipFamilies?.length) spec.ipFamilies = [offered[0]]
  if (
    spec.ipFamilyPolicy !== 'SingleStack' &&
    spec.ipFamilies.length === 1 &&
    offered.length === 2
  ) {
    spec.ipFamilies = [spec.ipFamilies[0], other(spec.ipFamilies[0])]
  }
}

function policyErrors({ ipFamilyPolicy, clusterIPs, ipFamilies }: Loose): FieldError[] {
  if (ipFamilyPolicy !== 'SingleStack') return []
  const wrong = (what: string) =>
    invalid(
      'spec.ipFamilyPolicy',
      ipFamilyPolicy,
      `must be RequireDualStack or PreferDualStack when multiple '${what}' are specified`,
    )
  return [
    ...(clusterIPs?.length === 2 ? [wrong('clusterIPs')] : []),
    ...(ipFamilies?.length === 2 ? [wrong('ipFamilies')] : []),
  ]
}

function addFamiliesOfAddresses(
  service: KubeObject,
  spec: Loose,
  offered: readonly Family[],
): void {
  for (const [i, address] of ((spec.clusterIPs ?? []) as string[]).entries()) {
    if (address === 'None') return
    if (i < (spec.ipFamilies?.length ?? 0)) continue
    const family = familyOf(address)
    if (!offered.includes(family)) {
      const detail = `may not use ${family} on a cluster which is not configured for it`
      refuse(service, [invalid(`spec.clusterIPs[${i}]`, asGo(goStrings(spec.clusterIPs)), detail)])
    }
    spec.ipFamilies = [...(spec.ipFamilies ?? []), family]
  }
}

function offerErrors(spec: Loose, offered: readonly Family[]): FieldError[] {
  const errors: FieldError[] = []
  if (spec.ipFamilyPolicy === 'RequireDualStack' && offered.length < 2) {
    errors.push(
      invalid(
        'spec.ipFamilyPolicy',
        spec.ipFamilyPolicy,
        'Cluster is not configured for dual stack services',
      ),
    )
  }
  for (const [i, family] of ((spec.ipFamilies ?? []) as Family[]).entries()) {
    if (offered.includes(family)) continue
    const detail = `ipfamily ${family} is not configured on cluster`
    errors.push(invalid(`spec.ipFamilies[${i}]`, asGo(goStrings(spec.clusterIPs)), detail))
  }
  return errors
}
