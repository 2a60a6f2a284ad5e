/**
 * The checks of each level in each version of the pod security standards. `since` and `until` are
 * versions of the standards. A namespace label can select a version, so v1.18 always has the
 * requirements of 1.18, whatever release is emulated. Rows are in the order of the messages.
 */
import type { Loose, ObjectMeta } from '#api/object-meta.ts'
import { change, isWithin, type Release, type Span } from '#api/releases/change.ts'
import {
  appArmor,
  appArmorNotes,
  capabilitiesBaseline,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  privileged,
  procMount,
  seccompAnnotations,
  seccompBaseline,
  seLinuxFirst,
  seLinuxNamingTypes,
  seLinuxWithEngine,
  sysctls,
  sysctls27,
  sysctls29,
  sysctls32,
  sysctls37,
  windowsHostProcess,
} from './baseline-checks.ts'
import { type PodCheck, type FoundProblems, hasUserNamespace } from './check.ts'
import type { LevelVersion } from './policy.ts'
import {
  allowPrivilegeEscalation,
  capabilitiesRestricted,
  restrictedVolumes,
  restrictedVolumesFirst,
  runAsNonRoot,
  runAsUser,
  seccompRestricted,
} from './restricted-checks.ts'

const appArmorIsAField = change('PodSecurity checks the field appArmorProfile', { since: 30 })
const usersAlone = change('PodSecurity names forbidden SELinux users where the type is allowed', {
  since: 26,
})
const imagesAreVolumes = change('PodSecurity allows image volumes at the level restricted', {
  since: 33,
})
const oneOfTwo = change('PodSecurity names a problem of both levels once', { since: 24 })
const relaxedByGate = change('a gate relaxes PodSecurity for pods with user namespaces', {
  since: 29,
  until: 34,
})
const procMountRelaxedByGate = change('a gate relaxes PodSecurity for procMount', {
  since: 31,
  until: 34,
})

interface Row extends Span {
  readonly id: string
  readonly check: PodCheck
  /** The weaker check of the level baseline that this one replaces. */
  readonly replaces?: string
}

const unless =
  (isFree: (spec: Loose) => boolean, check: PodCheck): PodCheck =>
  (spec, metadata) =>
    isFree(spec) ? undefined : check(spec, metadata)
const isWindows = ({ os }: Loose): boolean => os?.name === 'windows'

type Gate = (name: string) => boolean

/** Checks that a feature gate relaxes in all versions of the standards. */
function relaxed(release: Release, feature: Gate) {
  const isOn = feature('UserNamespacesPodSecurityStandards')
  const by = (gated: boolean, check: PodCheck): PodCheck =>
    gated && isOn ? unless(hasUserNamespace, check) : check
  return {
    nonRoot: by(release.has(relaxedByGate), runAsNonRoot),
    user: by(release.has(relaxedByGate), runAsUser),
    mount: by(release.has(procMountRelaxedByGate), procMount),
  }
}

function baselineRows(release: Release, feature: Gate): Row[] {
  const { mount } = relaxed(release, feature)
  return [
    { id: 'appArmorProfile', check: release.has(appArmorIsAField) ? appArmor : appArmorNotes },
    { id: 'capabilities', check: capabilitiesBaseline },
    { id: 'hostNamespaces', check: hostNamespaces },
    { id: 'hostPathVolumes', check: hostPathVolumes },
    { id: 'hostPorts', check: hostPorts },
    { id: 'hostProbes', check: hostProbes, since: 34 },
    { id: 'privileged', check: privileged },
    { id: 'procMount', check: mount, until: 34 },
    { id: 'procMount', check: unless(hasUserNamespace, procMount), since: 35 },
    {
      id: 'seLinux',
      check: release.has(usersAlone) ? seLinuxFirst : seLinuxNamingTypes,
      until: 30,
    },
    { id: 'seLinux', check: seLinuxWithEngine, since: 31 },
    { id: 'seccomp', check: seccompAnnotations, until: 18 },
    { id: 'seccomp', check: seccompBaseline, since: 19 },
    { id: 'sysctls', check: sysctls, until: 26 },
    { id: 'sysctls', check: sysctls27, since: 27, until: 28 },
    { id: 'sysctls', check: sysctls29, since: 29, until: 31 },
    { id: 'sysctls', check: sysctls32, since: 32, until: 36 },
    { id: 'sysctls', check: sysctls37, since: 37 },
    { id: 'hostProcess', check: windowsHostProcess },
  ]
}

function restrictedRows(release: Release, feature: Gate): Row[] {
  const { nonRoot, user } = relaxed(release, feature)
  const volumes = release.has(imagesAreVolumes) ? restrictedVolumes : restrictedVolumesFirst
  const escalation = { id: 'allowPrivilegeEscalation', check: allowPrivilegeEscalation }
  const capabilities = {
    id: 'capabilitiesRestricted',
    replaces: 'capabilities',
    check: capabilitiesRestricted,
  }
  const seccomp = { id: 'seccompRestricted', replaces: 'seccomp', check: seccompRestricted }
  const notOnWindows = (row: Row): Row => ({ ...row, check: unless(isWindows, row.check) })
  const inUserNamespace = (check: PodCheck) => unless(hasUserNamespace, check)
  return [
    { ...escalation, since: 8, until: 24 },
    { ...notOnWindows(escalation), since: 25 },
    { ...capabilities, since: 22, until: 24 },
    { ...notOnWindows(capabilities), since: 25 },
    { id: 'procMountRestricted', replaces: 'procMount', check: procMount, since: 35 },
    { id: 'restrictedVolumes', replaces: 'hostPathVolumes', check: volumes },
    { id: 'runAsNonRoot', check: nonRoot, until: 34 },
    { id: 'runAsNonRoot', check: inUserNamespace(runAsNonRoot), since: 35 },
    { id: 'runAsUser', check: user, since: 23, until: 34 },
    { id: 'runAsUser', check: inUserNamespace(runAsUser), since: 35 },
    { ...seccomp, since: 19, until: 24 },
    { ...notOnWindows(seccomp), since: 25 },
  ]
}

/** Finds all violations of a pod or pod template. */
export type FindProblems = (
  requested: LevelVersion,
  metadata: ObjectMeta,
  spec: Loose,
) => FoundProblems[]

/**
 * The checks of a release for every known version of the standards. A newer version has the
 * requirements of the release.
 */
export function podChecks(release: Release, feature: Gate): FindProblems {
  const baseline = baselineRows(release, feature)
  const restricted = restrictedRows(release, feature)
  const checksOf = (rows: readonly Row[]) => rows.map(({ check }) => check)
  const ofVersion = (version: number) => {
    const has = (row: Row) => isWithin(row, version)
    const low = baseline.filter(has)
    const high = restricted.filter(has)
    const replaced = new Set(release.has(oneOfTwo) ? high.map(({ replaces }) => replaces) : [])
    return {
      baseline: checksOf(low),
      restricted: checksOf([...low.filter(({ id }) => !replaced.has(id)), ...high]),
    }
  }
  /** Made when a namespace first selects the version; most servers need one. */
  const made = new Map<number, ReturnType<typeof ofVersion>>()
  return ({ level, version = release.minor }, metadata, spec) => {
    if (level === 'privileged') return []
    const known = Math.min(version, release.minor)
    const checks = made.get(known) ?? ofVersion(known)
    made.set(known, checks)
    return checks[level]
      .map((check) => check(spec, metadata))
      .filter((found) => found !== undefined)
  }
}

export const reasonsOf = (found: readonly FoundProblems[]): string =>
  found.map(({ reason }) => reason).join(', ')

export const detailsOf = (found: readonly FoundProblems[]): string =>
  found.map(({ reason, detail }) => `${reason} (${detail})`).join(', ')
