/** Every plugin by name, in the order they run, with the releases that have it and whether it is on by default. */
interface Row {
  readonly name: string
  /** First release that runs it without being asked to; absent for those that are asked for. */
  readonly onSince?: number
  readonly since?: number
  readonly until?: number
}

const rows: readonly Row[] = [
  { name: 'AlwaysAdmit' },
  { name: 'NamespaceAutoProvision' },
  { name: 'NamespaceLifecycle', onSince: 15 },
  { name: 'NamespaceExists' },
  { name: 'SecurityContextDeny', until: 29 },
  { name: 'LimitPodHardAntiAffinityTopology' },
  { name: 'PodPreset', until: 19 },
  { name: 'LimitRanger', onSince: 15 },
  { name: 'ServiceAccount', onSince: 15 },
  { name: 'NodeRestriction' },
  { name: 'TaintNodesByCondition', onSince: 15 },
  { name: 'AlwaysPullImages' },
  { name: 'ImagePolicyWebhook' },
  { name: 'PodSecurityPolicy', until: 22 },
  { name: 'PodSecurity', onSince: 22, since: 22 },
  { name: 'PodSecurityPolicy', since: 23, until: 24 },
  { name: 'PodNodeSelector' },
  { name: 'Priority', onSince: 15 },
  { name: 'DefaultTolerationSeconds', onSince: 15 },
  { name: 'PodTolerationRestriction' },
  { name: 'DenyEscalatingExec', until: 20 },
  { name: 'DenyExecOnPrivileged', until: 20 },
  { name: 'EventRateLimit' },
  { name: 'ExtendedResourceToleration' },
  { name: 'PersistentVolumeLabel', until: 30 },
  { name: 'DefaultStorageClass', onSince: 15 },
  { name: 'StorageObjectInUseProtection', onSince: 15 },
  { name: 'PodGroupProtection', onSince: 36, since: 36 },
  { name: 'OwnerReferencesPermissionEnforcement' },
  { name: 'PersistentVolumeClaimResize', onSince: 15 },
  { name: 'RuntimeClass', onSince: 16, since: 18 },
  { name: 'CertificateApproval', onSince: 18, since: 18 },
  { name: 'CertificateSigning', onSince: 18, since: 18 },
  { name: 'ClusterTrustBundleAttest', onSince: 27, since: 27 },
  { name: 'CertificateSubjectRestriction', onSince: 18, since: 18 },
  { name: 'DefaultIngressClass', onSince: 18, since: 18 },
  { name: 'DenyServiceExternalIPs', since: 21 },
  { name: 'PodTopologyLabels', onSince: 33, since: 33 },
  { name: 'PodGroupWorkloadExists', onSince: 36, since: 36, until: 36 },
  { name: 'NodeDeclaredFeatureValidator', onSince: 35, since: 35 },
  { name: 'JobValidation', onSince: 36, since: 36, until: 36 },
  { name: 'PodResizeValidator', onSince: 36, since: 36 },
  { name: 'MutatingAdmissionWebhook', onSince: 15 },
  { name: 'ValidatingAdmissionWebhook', onSince: 15 },
  // It came last at first.
  { name: 'RuntimeClass', onSince: 16, since: 16, until: 17 },
  { name: 'ResourceQuota', onSince: 15 },
  { name: 'AlwaysDeny' },
]

export const pluginNames = (release: number): string[] =>
  rows
    .filter(({ since = 0, until = 99 }) => release >= since && release <= until)
    .map(({ name }) => name)

/** The names that are on, in order; throws where a name is unknown or both asked for and not. */
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
  const on = (name: string) => (rows.find((row) => row.name === name)?.onSince ?? 99) <= release
  return known.filter((name) => enable.includes(name) || (on(name) && !disable.includes(name)))
}

/** These names alone, in order; throws where one is unknown. */
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
