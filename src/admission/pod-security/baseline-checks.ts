/** The checks of the level `baseline`. Each version of the rules has its own check. */
import { goQuote } from '#api/go-syntax.ts'
import type { Loose, ObjectMeta } from '#api/object-meta.ts'
import {
  all,
  type PodCheck,
  named,
  namesOf,
  perContainer,
  plural,
  quoted,
  settersOf,
  sorted,
} from './check.ts'

/** The security contexts of the pod and of its containers. */
const contextsOf = (spec: Loose): Loose[] =>
  [spec, ...all(spec)].flatMap(({ securityContext }) => securityContext ?? [])

const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'
const badArmorNotes = ({ annotations = {} }: ObjectMeta): string[] =>
  sorted(
    Object.entries(annotations)
      .filter(([key, value]) => key.startsWith(appArmorPrefix) && !isAppArmorProfile(value))
      .map(([key, value]) => `${key}=${goQuote(value)}`),
  )

/** In releases before pods had a field for it. */
export const appArmorNotes: PodCheck = (_, metadata) => {
  const bad = badArmorNotes(metadata)
  if (bad.length === 0) return undefined
  return { reason: plural('forbidden AppArmor profile', bad), detail: bad.join(', ') }
}

export const appArmor: PodCheck = (spec, metadata) => {
  const isBad = ({ appArmorProfile: own }: Loose) => own !== undefined && !isProfileType(own.type)
  const types = contextsOf(spec)
    .filter(isBad)
    .map(({ appArmorProfile }) => appArmorProfile.type ?? '')
  const notes = badArmorNotes(metadata)
  const setters = settersOf(spec, isBad)
  if (notes.length > 0) setters.push(plural('annotation', notes))
  if (setters.length === 0) return undefined
  const values = [...sorted(types), ...notes]
  return {
    reason: plural('forbidden AppArmor profile', values),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
  }
}
const isProfileType = (type: string): boolean => type === 'RuntimeDefault' || type === 'Localhost'
const isAppArmorProfile = (profile: string): boolean =>
  profile === '' || profile === 'runtime/default' || profile.startsWith('localhost/')

const usualCapabilities = new Set(
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(
    ' ',
  ),
)
const addedTo = ({ securityContext }: Loose): string[] => securityContext?.capabilities?.add ?? []

export function added(spec: Loose, isAllowed: (capability: string) => boolean): string | undefined {
  const bad = all(spec).filter((container) => addedTo(container).some((one) => !isAllowed(one)))
  if (bad.length === 0) return undefined
  const capabilities = sorted(bad.flatMap(addedTo).filter((one) => !isAllowed(one)))
  const who = named('container', namesOf(bad))
  return `${who} must not include ${quoted(capabilities)} in securityContext.capabilities.add`
}

export const capabilitiesBaseline: PodCheck = (spec) => {
  const detail = added(spec, (one) => usualCapabilities.has(one))
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail }
}
export const hostNamespaces: PodCheck = (spec) => {
  const shared = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field] === true)
  if (shared.length === 0) return undefined
  return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') }
}

export const hostPathVolumes: PodCheck = ({ volumes = [] }) => {
  const bad = namesOf((volumes as Loose[]).filter(({ hostPath }) => hostPath !== undefined))
  if (bad.length === 0) return undefined
  return { reason: 'hostPath volumes', detail: named('volume', bad) }
}

const portsOf = ({ ports = [] }: Loose): string[] =>
  (ports as Loose[]).filter(({ hostPort }) => hostPort).map(({ hostPort }) => String(hostPort))
export const hostPorts: PodCheck = (spec) => {
  const bad = all(spec).filter((container) => portsOf(container).length > 0)
  if (bad.length === 0) return undefined
  const ports = sorted(bad.flatMap(portsOf))
  const use = bad.length === 1 ? 'uses' : 'use'
  const detail = `${named('container', namesOf(bad))} ${use} ${plural('hostPort', ports)} ${ports.join(', ')}`
  return { reason: 'hostPort', detail }
}

const procMountOf = ({ securityContext }: Loose): string => securityContext?.procMount ?? 'Default'
export const procMount: PodCheck = (spec) => {
  const bad = all(spec).filter((container) => procMountOf(container) !== 'Default')
  if (bad.length === 0) return undefined
  const types = quoted(sorted(bad.map(procMountOf)))
  const who = named('container', namesOf(bad))
  return {
    reason: 'procMount',
    detail: `${who} must not set securityContext.procMount to ${types}`,
  }
}

const seLinuxTypesFirst = ['', 'container_t', 'container_init_t', 'container_kvm_t']
const seLinuxTypes = [...seLinuxTypesFirst, 'container_engine_t']

interface SeLinuxRule {
  readonly types: readonly string[]
  /** Whether SELinux users and roles are reported only together with a forbidden type. */
  readonly needsType?: boolean
}

const seLinux =
  ({ types: allowed, needsType = false }: SeLinuxRule): PodCheck =>
  (spec) => {
    const isBad = ({ seLinuxOptions: own }: Loose) =>
      own !== undefined && (!allowed.includes(own.type ?? '') || Boolean(own.user || own.role))
    const setters = settersOf(spec, isBad)
    if (setters.length === 0) return undefined
    const options: Loose[] = contextsOf(spec).flatMap((one) => one.seLinuxOptions ?? [])
    const types = sorted(
      options.map(({ type = '' }) => type).filter((one) => !allowed.includes(one)),
    )
    const named = !needsType || types.length > 0
    const data = [
      ...(types.length > 0 ? [`${plural('type', types)} ${quoted(types)}`] : []),
      ...(named && options.some(({ user }) => user) ? ['user may not be set'] : []),
      ...(named && options.some(({ role }) => role) ? ['role may not be set'] : []),
    ]
    const detail = `${setters.join(' and ')} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`
    return { reason: 'seLinuxOptions', detail }
  }
export const seLinuxNamingTypes = seLinux({ types: seLinuxTypesFirst, needsType: true })
export const seLinuxFirst = seLinux({ types: seLinuxTypesFirst })
export const seLinuxWithEngine = seLinux({ types: seLinuxTypes })

const podSeccomp = 'seccomp.security.alpha.kubernetes.io/pod'
const containerSeccomp = 'container.seccomp.security.alpha.kubernetes.io/'
const isSeccompText = (value: string): boolean =>
  ['runtime/default', 'docker/default'].includes(value) || value.startsWith('localhost/')
export const seccompAnnotations: PodCheck = (spec, { annotations = {} }) => {
  const keys = [podSeccomp, ...namesOf(all(spec)).map((name) => containerSeccomp + name)]
  const bad = keys
    .filter((key) => Object.hasOwn(annotations, key) && !isSeccompText(annotations[key] as string))
    .map((key) => `${key}=${goQuote(annotations[key] as string)}`)
  if (bad.length === 0) return undefined
  const found = sorted(bad)
  const detail = `forbidden ${plural('annotation', found)} ${found.join(', ')}`
  return { reason: 'seccompProfile', detail }
}

const isSeccompType = (type: string): boolean => type === 'Localhost' || type === 'RuntimeDefault'
export const seccompBaseline: PodCheck = (spec) => {
  const isBad = ({ seccompProfile: own }: Loose) =>
    own !== undefined && !isSeccompType(own.type ?? '')
  const setters = settersOf(spec, isBad)
  if (setters.length === 0) return undefined
  const types = contextsOf(spec)
    .filter(isBad)
    .map(({ seccompProfile }) => seccompProfile.type)
  const detail = `${setters.join(' and ')} must not set securityContext.seccompProfile.type to ${quoted(sorted(types))}`
  return { reason: 'seccompProfile', detail }
}
const withSysctls =
  (...lists: (readonly string[])[]): PodCheck =>
  ({ securityContext }) => {
    const safe = new Set(lists.flat())
    const set: Loose[] = securityContext?.sysctls ?? []
    const bad = namesOf(set).filter((name) => !safe.has(name))
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') }
  }
const firstSysctls = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]
const reservedPorts = ['net.ipv4.ip_local_reserved_ports']
const keepalive = [
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]
const buffers = ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']
const slowStart = ['net.ipv4.tcp_slow_start_after_idle', 'net.ipv4.tcp_notsent_lowat']
export const sysctls = withSysctls(firstSysctls)
export const sysctls27 = withSysctls(firstSysctls, reservedPorts)
export const sysctls29 = withSysctls(firstSysctls, reservedPorts, keepalive)
export const sysctls32 = withSysctls(firstSysctls, reservedPorts, keepalive, buffers)
export const sysctls37 = withSysctls(firstSysctls, reservedPorts, keepalive, buffers, slowStart)

export const windowsHostProcess: PodCheck = (spec) => {
  const setters = settersOf(spec, ({ windowsOptions }) => windowsOptions?.hostProcess === true)
  if (setters.length === 0) return undefined
  const detail = `${setters.join(' and ')} must not set securityContext.windowsOptions.hostProcess=true`
  return { reason: 'hostProcess', detail }
}

/** The hosts of probes and lifecycle handlers that are not the pod itself. */
function hostsOf({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Loose): string[] {
  const handlers = [
    livenessProbe,
    readinessProbe,
    startupProbe,
    lifecycle?.postStart,
    lifecycle?.preStop,
  ]
  return handlers
    .flatMap((one) => [one?.httpGet?.host, one?.tcpSocket?.host])
    .filter((host) => Boolean(host))
}

export const hostProbes: PodCheck = (spec) => {
  const bad = all(spec).filter((container) => hostsOf(container).length > 0)
  if (bad.length === 0) return undefined
  const reason = 'probe or lifecycle host'
  const names = sorted(namesOf(bad))
  const use = names.length === 1 ? 'uses' : 'use'
  const hosts = sorted(bad.flatMap(hostsOf))
  return { reason, detail: `${named('container', names)} ${use} ${named(reason, hosts)}` }
}

export const privileged = perContainer(
  'privileged',
  (context) => context.privileged === true,
  'must not set securityContext.privileged=true',
)
