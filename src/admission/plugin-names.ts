/**
 * All admission plugins in their order, with the releases that have them and whether they are
 * enabled by default.
 */
import { change, type ReleaseChange, releaseOf, type Span } from '#api/releases/change.ts'

interface Row {
  readonly name: string
  /** Whether the plugin is enabled by default. */
  readonly on?: true
  /** The releases that have the plugin. Absent: all. */
  readonly only?: ReleaseChange
  /** A plugin that moved has two rows: one for releases with the change, one for those without. */
  readonly placeSince?: ReleaseChange
  readonly placeBefore?: ReleaseChange
}

/** A plugin that some releases have. */
const some = (name: string, ...spans: Span[]): Row => ({
  name,
  only: change(`there is the admission plugin ${name}`, ...spans),
})

const podSecurityPolicy = some('PodSecurityPolicy', { until: 24 })
const podSecurityFirst = change('the plugin PodSecurity runs before PodSecurityPolicy', {
  since: 23,
})
const runtimeClass: Row = { ...some('RuntimeClass', { since: 16 }), on: true }
const runtimeClassFirst = change('the plugin RuntimeClass runs before webhooks', { since: 18 })

const rows: readonly Row[] = [
  { name: 'AlwaysAdmit' },
  { name: 'NamespaceAutoProvision' },
  { name: 'NamespaceLifecycle', on: true },
  { name: 'NamespaceExists' },
  some('SecurityContextDeny', { until: 29 }),
  { name: 'LimitPodHardAntiAffinityTopology' },
  some('PodPreset', { until: 19 }),
  { name: 'LimitRanger', on: true },
  { name: 'ServiceAccount', on: true },
  { name: 'NodeRestriction' },
  { name: 'TaintNodesByCondition', on: true },
  { name: 'AlwaysPullImages' },
  { name: 'ImagePolicyWebhook' },
  { ...podSecurityPolicy, placeBefore: podSecurityFirst },
  { ...some('PodSecurity', { since: 22 }), on: true },
  { ...podSecurityPolicy, placeSince: podSecurityFirst },
  { name: 'PodNodeSelector' },
  { name: 'Priority', on: true },
  { name: 'DefaultTolerationSeconds', on: true },
  { name: 'PodTolerationRestriction' },
  some('DenyEscalatingExec', { until: 20 }),
  some('DenyExecOnPrivileged', { until: 20 }),
  { name: 'EventRateLimit' },
  { name: 'ExtendedResourceToleration' },
  some('PersistentVolumeLabel', { until: 30 }),
  { name: 'DefaultStorageClass', on: true },
  { name: 'StorageObjectInUseProtection', on: true },
  { ...some('PodGroupProtection', { since: 36 }), on: true },
  { name: 'OwnerReferencesPermissionEnforcement' },
  { name: 'PersistentVolumeClaimResize', on: true },
  { ...runtimeClass, placeSince: runtimeClassFirst },
  { ...some('CertificateApproval', { since: 18 }), on: true },
  { ...some('CertificateSigning', { since: 18 }), on: true },
  { ...some('ClusterTrustBundleAttest', { since: 27 }), on: true },
  { ...some('CertificateSubjectRestriction', { since: 18 }), on: true },
  { ...some('DefaultIngressClass', { since: 18 }), on: true },
  some('DenyServiceExternalIPs', { since: 21 }),
  { ...some('PodTopologyLabels', { since: 33 }), on: true },
  { ...some('PodGroupWorkloadExists', { since: 36, until: 36 }), on: true },
  { ...some('NodeDeclaredFeatureValidator', { since: 35 }), on: true },
  { ...some('JobValidation', { since: 36, until: 36 }), on: true },
  { ...some('PodResizeValidator', { since: 36 }), on: true },
  { ...some('MutatingAdmissionPolicy', { since: 32 }), on: true },
  { name: 'MutatingAdmissionWebhook', on: true },
  { ...some('ValidatingAdmissionPolicy', { since: 26 }), on: true },
  { name: 'ValidatingAdmissionWebhook', on: true },
  { ...runtimeClass, placeBefore: runtimeClassFirst },
  { name: 'ResourceQuota', on: true },
  { name: 'AlwaysDeny' },
]

/** The names of the plugins that a release has, in order. */
export function pluginNames(release: number): string[] {
  const { has } = releaseOf(release)
  return rows
    .filter(
      ({ only, placeSince, placeBefore }) =>
        (only === undefined || has(only)) &&
        (placeSince === undefined || has(placeSince)) &&
        (placeBefore === undefined || !has(placeBefore)),
    )
    .map(({ name }) => name)
}

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
