/**
 * Validates the securityContext of a pod and of each container: users, sysctls, seccomp, AppArmor,
 * Windows options and privileges. Also validates host ports and host namespaces.
 */
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { groupId, longerThan, userId } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { change } from '#api/releases/change.ts'
import { errorsShowJson } from '#api/release-words.ts'
import { checkOneOfIfSet, each } from '#kinds/all-kinds/checks.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import { checkAppArmorProfile } from './app-armor.ts'
import { containersOf } from './containers-of.ts'
import { goSecurityContext } from './go-values.ts'
import type { PodRules } from './pod-rules.ts'
import { checkSeccompProfile } from './seccomp.ts'
import { checkWindowsOptions } from './windows-options.ts'

const hostPortsNameHostPort = change('errors of pods on the host network name hostPort', {
  since: 28,
})
const errorNamesSpecField = change('errors of shareProcessNamespace name the field', { since: 37 })

/**
 * Validates `spec.securityContext`, `spec.shareProcessNamespace` and, before release 28, the host
 * ports of containers. `path` is the path of the pod spec.
 */
export function checkPodSecurityContext(
  spec: Loose,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const context: Loose = spec.securityContext ?? {}
  const at = path.child('securityContext')
  const errors: FieldError[] = []
  if (spec.hostNetwork && !rules.has(hostPortsNameHostPort)) {
    errors.push(...checkHostPortsBefore28(spec.containers, path.child('containers')))
  }
  errors.push(...checkIds(context, at, ['fsGroup', 'runAsUser', 'runAsGroup']))
  ;((context.supplementalGroups ?? []) as number[]).forEach((id, i) => {
    errors.push(...each(at.child('supplementalGroups').index(i), id, groupId(id)))
  })
  const sharesBoth = spec.shareProcessNamespace && spec.hostPID
  const reportsFieldOfSpec = rules.has(errorNamesSpecField)
  if (sharesBoth && !reportsFieldOfSpec) errors.push(sharedProcessesError(at))
  errors.push(...checkSysctls(spec, at.child('sysctls'), rules))
  errors.push(
    ...checkOneOfIfSet(
      context.fsGroupChangePolicy,
      ['Always', 'OnRootMismatch'],
      at.child('fsGroupChangePolicy'),
    ),
    ...checkSeccompProfile(context.seccompProfile, at.child('seccompProfile')),
    ...checkWindowsOptions(context.windowsOptions, at.child('windowsOptions')),
    ...checkAppArmorProfile(context.appArmorProfile, at.child('appArmorProfile')),
    ...checkOneOfIfSet(
      context.supplementalGroupsPolicy,
      ['Merge', 'Strict'],
      at.child('supplementalGroupsPolicy'),
    ),
    ...checkSeLinuxPolicy(context.seLinuxChangePolicy, at.child('seLinuxChangePolicy'), rules),
  )
  if (sharesBoth && reportsFieldOfSpec) errors.push(sharedProcessesError(path))
  return errors
}

const sharedProcessesError = (path: FieldPath): FieldError =>
  invalid(
    path.child('shareProcessNamespace'),
    true,
    'ShareProcessNamespace and HostPID cannot both be enabled',
  )

function checkSeLinuxPolicy(
  policy: string | null | undefined,
  path: FieldPath,
  { feature, old }: PodRules,
): FieldError[] {
  const mayMount =
    feature('SELinuxMount') ||
    (old?.securityContext?.seLinuxChangePolicy ?? undefined) !== undefined
  return checkOneOfIfSet(policy, mayMount ? ['MountOption', 'Recursive'] : ['Recursive'], path)
}

function checkIds(context: Loose, path: FieldPath, fields: readonly string[]): FieldError[] {
  return fields.flatMap((field) => {
    const id = context[field] ?? undefined
    if (id === undefined) return []
    return each(path.child(field), id, field === 'runAsUser' ? userId(id) : groupId(id))
  })
}

function checkHostPortsBefore28(
  containers: Loose[] | null | undefined,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  ;(containers ?? []).forEach((container, i) => {
    ;((container.ports ?? []) as Loose[]).forEach((port, k) => {
      const { containerPort = 0, hostPort = 0 } = port
      if (hostPort === containerPort) return
      const at = path.index(i).child('ports').index(k).child('containerPort')
      errors.push(invalid(at, containerPort, 'must match `hostPort` when `hostNetwork` is true'))
    })
  })
  return errors
}

/**
 * The hostPort of a port must equal its containerPort if the pod uses the host network. A template
 * may leave hostPort unset; defaulting sets it in pods.
 */
export function checkHostPorts(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  if (!spec.hostNetwork || !rules.has(hostPortsNameHostPort)) return []
  return ((spec.containers ?? []) as Loose[]).flatMap(({ ports }, i) =>
    ((ports ?? []) as Loose[]).flatMap(({ containerPort = 0, hostPort = 0 }, k) => {
      if (hostPort === containerPort || (hostPort === 0 && !rules.isPod)) return []
      const at = path.child('containers').index(i).child('ports').index(k).child('hostPort')
      const detail = 'must match `containerPort` when `hostNetwork` is true'
      return [invalid(at, hostPort, detail)]
    }),
  )
}

const sysctlLengthMax = 253
const sysctlSegment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const sysctlsHaveSlashes = change('names of sysctls can have slashes', { since: 25 })
const sourceBefore25 = `(${sysctlSegment}\\.)*${sysctlSegment}`
const source = `(${sysctlSegment}[\\./])*${sysctlSegment}`
const formBefore25 = new RegExp(`^${sourceBefore25}$`)
const form = new RegExp(`^${source}$`)
const rejectsHostSysctls = change(
  'pods on the host may not set sysctls of the namespace they share',
  {
    since: 29,
  },
)

function checkSysctls(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  const withSlashes = rules.has(sysctlsHaveSlashes)
  const pattern = withSlashes ? source : sourceBefore25
  const isName = (name: string) =>
    !longerThan(name, sysctlLengthMax) && (withSlashes ? form : formBefore25).test(name)
  const rejectsShared = rules.has(rejectsHostSysctls) && !sharesSysctl(rules.old)
  ;((spec.securityContext?.sysctls ?? []) as Loose[]).forEach((sysctl, i) => {
    const at = path.index(i).child('name')
    const name: string = sysctl.name ?? ''
    if (name === '') {
      errors.push(required(at))
    } else if (!isName(name)) {
      const shown = withSlashes ? `^${pattern}$` : pattern
      const detail = `must have at most ${sysctlLengthMax} characters and match regex ${shown}`
      errors.push(invalid(at, name, detail))
    } else if (names.has(name)) {
      errors.push(duplicate(at, name))
    }
    const hostField = rejectsShared ? sharedNamespace(name, spec) : undefined
    if (hostField !== undefined) {
      errors.push(invalid(at, name, `may not be specified when '${hostField}' is true`))
    }
    names.add(name)
  })
  return errors
}

const ipcSysctls: ReadonlySet<string> = new Set(
  [
    'sem',
    'shm',
    'shmall',
    'shmmax',
    'shmmni',
    'shm_rmid_forced',
    'msg',
    'msgmax',
    'msgmnb',
    'msgmni',
  ].map((name) => `kernel.${name}`),
)

/**
 * Normalises a sysctl name with slashes: `net/ipv4/conf/eno2.100/x` → `net.ipv4.conf.eno2/100.x`.
 * The first separator decides which notation a name uses.
 */
function withDots(name: string): string {
  const first = name.search(/[./]/)
  if (first === -1 || name[first] === '.') return name
  return name.replace(/[./]/g, (separator) => (separator === '.' ? '/' : '.'))
}

/** The field that shares a host namespace with the pod, so that the pod must not set the sysctl. */
function sharedNamespace(writtenName: string, spec: Loose): string | undefined {
  const name = withDots(writtenName)
  if (spec.hostNetwork && name.startsWith('net.')) return 'hostNetwork'
  const isIpc = ipcSysctls.has(name) || name.startsWith('fs.mqueue.')
  return spec.hostIPC && isIpc ? 'hostIPC' : undefined
}

const sharesSysctl = (old: Loose | undefined): boolean =>
  ((old?.securityContext?.sysctls ?? []) as Loose[]).some(
    ({ name = '' }) => sharedNamespace(name, old as Loose) !== undefined,
  )

const unmaskedNeedsUsers = change('procMount Unmasked needs hostUsers false', { since: 30 })
const mayKeepSysAdmin = change(
  'a pod may keep CAP_SYS_ADMIN while allowPrivilegeEscalation is false',
  { since: 37 },
)

export function checkSecurityContext(
  context: Loose | null | undefined,
  path: FieldPath,
  rules: PodRules,
  spec: Loose,
): FieldError[] {
  if (!context) return []
  const errors: FieldError[] = []
  const { privileged, allowPrivilegeEscalation: escalation } = context
  if (privileged === true && !rules.allowPrivileged) {
    errors.push(forbidden(path.child('privileged'), 'disallowed by cluster policy'))
  }
  errors.push(...checkIds(context, path, ['runAsUser', 'runAsGroup']))
  const procMount = context.procMount ?? undefined
  if (procMount !== undefined && procMount !== 'Default' && procMount !== 'Unmasked') {
    errors.push(notSupported(path.child('procMount'), procMount, ['Default', 'Unmasked']))
  }
  if (procMount === 'Unmasked' && spec.hostUsers !== false && rules.has(unmaskedNeedsUsers)) {
    const detail = '`hostUsers` must be false to use `Unmasked`'
    errors.push(invalid(path.child('procMount'), procMount, detail))
  }
  errors.push(...checkSeccompProfile(context.seccompProfile, path.child('seccompProfile')))
  if (escalation === false) {
    const conflict = (other: string) =>
      errors.push(
        invalid(
          path,
          shownContext(context, rules),
          `cannot set \`allowPrivilegeEscalation\` to false and ${other}`,
        ),
      )
    if (privileged === true) conflict('`privileged` to true')
    const isExempt = rules.has(mayKeepSysAdmin) && hadSysAdmin(rules.old)
    for (const capability of isExempt ? [] : ((context.capabilities?.add ?? []) as string[])) {
      if (capability === 'CAP_SYS_ADMIN') conflict('`capabilities.Add` CAP_SYS_ADMIN')
    }
  }
  errors.push(...checkWindowsOptions(context.windowsOptions, path.child('windowsOptions')))
  errors.push(...checkAppArmorProfile(context.appArmorProfile, path.child('appArmorProfile')))
  return errors
}

/** Older releases print Go's syntax, which 1.34 and later replace by the value as JSON. */
const shownContext = (context: Loose, rules: PodRules): unknown =>
  rules.has(errorsShowJson)
    ? internalValue('io.k8s.api.core.v1.SecurityContext', context)
    : goSecurityContext(context, rules.release)

const hadSysAdmin = (old: Loose | undefined): boolean =>
  containersOf(old ?? {}).some(
    ({ securityContext: context }) =>
      context?.allowPrivilegeEscalation !== true &&
      ((context?.capabilities?.add ?? []) as string[]).includes('CAP_SYS_ADMIN'),
  )
