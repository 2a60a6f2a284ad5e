/**
 * All admission plugins in their order, with the releases that have them and whether they are
 * enabled by default.
 */
import { isWithin, type Span } from '#api/releases/change.ts'

/** The releases that run the plugin at this position. */
interface Row extends Span {
  readonly name: string
  /** Whether the plugin is enabled by default. */
  readonly on?: true
}

const rows: readonly Row[] = [
  { name: 'AlwaysAdmit' },
  { name: 'NamespaceAutoProvision' },
  { name: 'NamespaceLifecycle', on: true },
  { name: 'NamespaceExists' },
  { name: 'SecurityContextDeny', until: 29 },
  { name: 'LimitPodHardAntiAffinityTopology' },
  { name: 'PodPreset', until: 19 },
  { name: 'LimitRanger', on: true },
  { name: 'ServiceAccount', on: true },
  { name: 'NodeRestriction' },
  { name: 'TaintNodesByCondition', on: true },
  { name: 'AlwaysPullImages' },
  { name: 'ImagePolicyWebhook' },
  { name: 'PodSecurityPolicy', until: 22 },
  { name: 'PodSecurity', on: true, since: 22 },
  { name: 'PodSecurityPolicy', since: 23, until: 24 },
  { name: 'PodNodeSelector' },
  { name: 'Priority', on: true },
  { name: 'DefaultTolerationSeconds', on: true },
  { name: 'PodTolerationRestriction' },
  { name: 'DenyEscalatingExec', until: 20 },
  { name: 'DenyExecOnPrivileged', until: 20 },
  { name: 'EventRateLimit' },
  { name: 'ExtendedResourceToleration' },
  { name: 'PersistentVolumeLabel', until: 30 },
  { name: 'DefaultStorageClass', on: true },
  { name: 'StorageObjectInUseProtection', on: true },
  { name: 'PodGroupProtection', on: true, since: 36 },
  { name: 'OwnerReferencesPermissionEnforcement' },
  { name: 'PersistentVolumeClaimResize', on: true },
  { name: 'RuntimeClass', on: true, since: 18 },
  { name: 'CertificateApproval', on: true, since: 18 },
  { name: 'CertificateSigning', on: true, since: 18 },
  { name: 'ClusterTrustBundleAttest', on: true, since: 27 },
  { name: 'CertificateSubjectRestriction', on: true, since: 18 },
  { name: 'DefaultIngressClass', on: true, since: 18 },
  { name: 'DenyServiceExternalIPs', since: 21 },
  { name: 'PodTopologyLabels', on: true, since: 33 },
  { name: 'PodGroupWorkloadExists', on: true, since: 36, until: 36 },
  { name: 'NodeDeclaredFeatureValidator', on: true, since: 35 },
  { name: 'JobValidation', on: true, since: 36, until: 36 },
  { name: 'PodResizeValidator', on: true, since: 36 },
  { name: 'MutatingAdmissionPolicy', on: true, since: 32 },
  { name: 'MutatingAdmissionWebhook', on: true },
  { name: 'ValidatingAdmissionPolicy', on: true, since: 26 },
  { name: 'ValidatingAdmissionWebhook', on: true },
  // At first the plugin was last.
  { name: 'RuntimeClass', on: true, since: 16, until: 17 },
  { name: 'ResourceQuota', on: true },
  { name: 'AlwaysDeny' },
]

export const pluginNames = (release: number): string[] =>
  rows.filter((row) => isWithin(row, release)).map(({ name }) => name)

/** The enabled plugins in order. Throws if a name is unknown, or both enabled and disabled. */
export function enabledPlugins(
  release: number,
  enable: readonly string[],
  disable: readonly string[],
): string[] {
  const known = pluginNames(release)
  requireKnown('enable-admission-plugins', enable, known)
  requireKnown('disable-admission-plugins', disable, known)
  const both = enable.filter((name) => disable.includes(name))
  if (both.length > 0) {
    throw new Error(
      `[${both.sort().join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`,
    )
  }
  const on = (name: string) => rows.some((row) => row.name === name && row.on === true)
  return known.filter((name) => enable.includes(name) || (on(name) && !disable.includes(name)))
}

/** The named plugins in their fixed order. Throws if a name is unknown. */
export function namedPlugins(release: number, names: readonly string[]): string[] {
  const known = pluginNames(release)
  requireKnown('admission-control', names, known)
  return known.filter((name) => names.includes(name))
}

function requireKnown(flag: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new Error(
    `${flag} plugin "${unknown}" is unknown; known are ${[...known].sort().join(', ')}`,
  )
}
