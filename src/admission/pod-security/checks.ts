/**
 * What pods may not do at each level, since which version of the rules. A check answers what is wrong, in short and in
 * detail, in the words of the original; rows stand in the order of its answers.
 */
import { byCodePoint, goQuote } from '#api/go-syntax.ts'
import type { Loose, ObjectMeta } from '#api/object-meta.ts'
import { containersOf } from '#admission/containers.ts'
import type { LevelVersion } from './policy.ts'

export interface Found {
  readonly reason: string
  readonly detail: string
}
type Check = (spec: Loose, metadata: ObjectMeta) => Found | undefined

const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort(byCodePoint)
const quoted = (items: readonly string[]): string => `"${items.join('", "')}"`
const plural = (word: string, { length }: { length: number }): string =>
  length === 1 ? word : `${word}s`
const named = (word: string, items: readonly string[]): string =>
  `${plural(word, items)} ${quoted(items)}`

const all = (spec: Loose): Loose[] => [...containersOf(spec)].map(({ container }) => container)
const namesOf = (containers: readonly Loose[]): string[] => containers.map(({ name }) => name ?? '')
const namesWhere = (spec: Loose, isBad: (container: Loose) => boolean): string[] =>
  namesOf(all(spec).filter(isBad))

/** A rule for containers, one by one. */
const perContainer =
  (reason: string, isBad: (context: Loose) => boolean, must: string): Check =>
  (spec) => {
    const bad = namesWhere(spec, ({ securityContext }) => isBad(securityContext ?? {}))
    return bad.length === 0 ? undefined : { reason, detail: `${named('container', bad)} ${must}` }
  }

/** The pod itself, and its containers, where they set something wrong. */
function settersOf(spec: Loose, isBad: (context: Loose) => boolean): string[] {
  const bad = namesWhere(spec, ({ securityContext }) => isBad(securityContext ?? {}))
  return [
    ...(isBad(spec.securityContext ?? {}) ? ['pod'] : []),
    ...(bad.length > 0 ? [named('container', bad)] : []),
  ]
}

const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'
const appArmor: Check = (_, { annotations = {} }) => {
  const bad = Object.entries(annotations)
    .filter(([key, value]) => key.startsWith(appArmorPrefix) && !isAppArmorProfile(value))
    .map(([key, value]) => `${key}=${goQuote(value)}`)
  if (bad.length === 0) return undefined
  const reason = plural('forbidden AppArmor profile', bad)
  return { reason, detail: sorted(bad).join(', ') }
}
const isAppArmorProfile = (profile: string): boolean =>
  profile === '' || profile === 'runtime/default' || profile.startsWith('localhost/')

const usualCapabilities = new Set(
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(
    ' ',
  ),
)
const addedTo = ({ securityContext }: Loose): string[] => securityContext?.capabilities?.add ?? []

function added(spec: Loose, isAllowed: (capability: string) => boolean): string | undefined {
  const bad = all(spec).filter((container) => addedTo(container).some((one) => !isAllowed(one)))
  if (bad.length === 0) return undefined
  const capabilities = sorted(bad.flatMap(addedTo).filter((one) => !isAllowed(one)))
  const who = named('container', namesOf(bad))
  return `${who} must not include ${quoted(capabilities)} in securityContext.capabilities.add`
}

const capabilitiesBaseline: Check = (spec) => {
  const detail = added(spec, (one) => usualCapabilities.has(one))
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail }
}
const capabilitiesRestricted: Check = (spec) => {
  const keeping = namesWhere(
    spec,
    ({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'),
  )
  const details = [
    keeping.length === 0
      ? undefined
      : `${named('container', keeping)} must set securityContext.capabilities.drop=["ALL"]`,
    added(spec, (one) => one === 'NET_BIND_SERVICE'),
  ].filter((one) => one !== undefined)
  if (details.length === 0) return undefined
  return { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

const hostNamespaces: Check = (spec) => {
  const shared = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field] === true)
  if (shared.length === 0) return undefined
  return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') }
}

const hostPathVolumes: Check = ({ volumes = [] }) => {
  const bad = namesOf((volumes as Loose[]).filter(({ hostPath }) => hostPath !== undefined))
  if (bad.length === 0) return undefined
  return { reason: 'hostPath volumes', detail: named('volume', bad) }
}

const portsOf = ({ ports = [] }: Loose): string[] =>
  (ports as Loose[]).filter(({ hostPort }) => hostPort).map(({ hostPort }) => String(hostPort))
const hostPorts: Check = (spec) => {
  const bad = all(spec).filter((container) => portsOf(container).length > 0)
  if (bad.length === 0) return undefined
  const ports = sorted(bad.flatMap(portsOf))
  const use = bad.length === 1 ? 'uses' : 'use'
  const detail = `${named('container', namesOf(bad))} ${use} ${plural('hostPort', ports)} ${ports.join(', ')}`
  return { reason: 'hostPort', detail }
}

const procMountOf = ({ securityContext }: Loose): string => securityContext?.procMount ?? 'Default'
const procMount: Check = (spec) => {
  const bad = all(spec).filter((container) => procMountOf(container) !== 'Default')
  if (bad.length === 0) return undefined
  const types = quoted(sorted(bad.map(procMountOf)))
  const who = named('container', namesOf(bad))
  return {
    reason: 'procMount',
    detail: `${who} must not set securityContext.procMount to ${types}`,
  }
}

const allowedVolumes =
  'configMap csi downwardAPI emptyDir ephemeral persistentVolumeClaim projected secret'.split(' ')
const otherVolumes =
  'hostPath gcePersistentDisk awsElasticBlockStore gitRepo nfs iscsi glusterfs rbd flexVolume cinder cephfs flocker fc azureFile vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO storageos'.split(
    ' ',
  )
const restrictedVolumes: Check = ({ volumes = [] }) => {
  const has = (volume: Loose) => (type: string) => volume[type] !== undefined
  const bad = (volumes as Loose[]).filter((volume) => !allowedVolumes.some(has(volume)))
  if (bad.length === 0) return undefined
  const types = sorted(bad.map((volume) => otherVolumes.find(has(volume)) ?? 'unknown'))
  const use = bad.length === 1 ? 'uses' : 'use'
  const detail = `${named('volume', namesOf(bad))} ${use} ${named('restricted volume type', types)}`
  return { reason: 'restricted volume types', detail }
}

/** Containers that neither they nor the pod make right. */
const leftOpen = (spec: Loose, field: string, isRight: (value: unknown) => boolean): string[] =>
  isRight(spec.securityContext?.[field])
    ? []
    : namesWhere(spec, ({ securityContext }) => securityContext?.[field] === undefined)

const runAsNonRoot: Check = (spec) => {
  const reason = 'runAsNonRoot != true'
  const setters = settersOf(spec, (context) => context.runAsNonRoot === false)
  if (setters.length > 0) {
    const detail = `${setters.join(' and ')} must not set securityContext.runAsNonRoot=false`
    return { reason, detail }
  }
  const open = leftOpen(spec, 'runAsNonRoot', (value) => value === true)
  if (open.length === 0) return undefined
  const detail = `pod or ${named('container', open)} must set securityContext.runAsNonRoot=true`
  return { reason, detail }
}

const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t']
const seLinuxOptions: Check = (spec) => {
  const contexts: Loose[] = [spec.securityContext, ...all(spec).map((one) => one.securityContext)]
  const options = contexts.map((context) => context?.seLinuxOptions).filter(Boolean) as Loose[]
  const isBad = ({ type = '', user, role }: Loose) =>
    !seLinuxTypes.includes(type) || Boolean(user) || Boolean(role)
  const setters = settersOf(spec, ({ seLinuxOptions: own }) => own !== undefined && isBad(own))
  if (setters.length === 0) return undefined
  const types = sorted(
    options.map(({ type = '' }) => type).filter((one) => !seLinuxTypes.includes(one)),
  )
  // Users and roles are told of only where a type is.
  const data =
    types.length === 0
      ? []
      : [
          `${plural('type', types)} ${quoted(types)}`,
          ...(options.some(({ user }) => user) ? ['user may not be set'] : []),
          ...(options.some(({ role }) => role) ? ['role may not be set'] : []),
        ]
  const detail = `${setters.join(' and ')} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`
  return { reason: 'seLinuxOptions', detail }
}

const podSeccomp = 'seccomp.security.alpha.kubernetes.io/pod'
const containerSeccomp = 'container.seccomp.security.alpha.kubernetes.io/'
const isSeccompText = (value: string): boolean =>
  ['runtime/default', 'docker/default'].includes(value) || value.startsWith('localhost/')
const seccompAnnotations: Check = (spec, { annotations = {} }) => {
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
const seccompBaseline: Check = (spec) => {
  const isBad = ({ seccompProfile: own }: Loose) =>
    own !== undefined && !isSeccompType(own.type ?? '')
  const setters = settersOf(spec, isBad)
  if (setters.length === 0) return undefined
  const contexts: Loose[] = [spec.securityContext, ...all(spec).map((one) => one.securityContext)]
  const types = contexts.filter((one) => one && isBad(one)).map((one) => one.seccompProfile.type)
  const detail = `${setters.join(' and ')} must not set securityContext.seccompProfile.type to ${quoted(sorted(types))}`
  return { reason: 'seccompProfile', detail }
}
const seccompRestricted: Check = (spec) => {
  const set = seccompBaseline(spec, {})
  if (set !== undefined) return set
  const open = leftOpen(spec, 'seccompProfile', (profile) => profile !== undefined)
  if (open.length === 0) return undefined
  const detail = `pod or ${named('container', open)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
  return { reason: 'seccompProfile', detail }
}

const safeSysctls = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
])
const sysctls: Check = ({ securityContext }) => {
  const set: Loose[] = securityContext?.sysctls ?? []
  const bad = namesOf(set).filter((name) => !safeSysctls.has(name))
  return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') }
}

const windowsHostProcess: Check = (spec) => {
  const setters = settersOf(spec, ({ windowsOptions }) => windowsOptions?.hostProcess === true)
  if (setters.length === 0) return undefined
  const detail = `${setters.join(' and ')} must not set securityContext.windowsOptions.hostProcess=true`
  return { reason: 'hostProcess', detail }
}

/** The newest version that any check came with; later ones ask the same. */
const newest = 22

interface Row {
  readonly check: Check
  readonly since?: number
  readonly until?: number
}
const baseline: readonly Row[] = [
  { check: appArmor },
  { check: capabilitiesBaseline },
  { check: hostNamespaces },
  { check: hostPathVolumes },
  { check: hostPorts },
  {
    check: perContainer(
      'privileged',
      ({ privileged }) => privileged === true,
      'must not set securityContext.privileged=true',
    ),
  },
  { check: procMount },
  { check: seLinuxOptions },
  { check: seccompAnnotations, until: 18 },
  { check: seccompBaseline, since: 19 },
  { check: sysctls },
  { check: windowsHostProcess },
]
const restricted: readonly Row[] = [
  {
    since: 8,
    check: perContainer(
      'allowPrivilegeEscalation != false',
      ({ allowPrivilegeEscalation }) => allowPrivilegeEscalation !== false,
      'must set securityContext.allowPrivilegeEscalation=false',
    ),
  },
  { check: capabilitiesRestricted, since: 22 },
  { check: restrictedVolumes },
  { check: runAsNonRoot },
  { check: seccompRestricted, since: 19 },
]

/** Everything that is wrong with a pod, or with what pods are made from. */
export function problemsOf(
  { level, version = newest }: LevelVersion,
  metadata: ObjectMeta,
  spec: Loose,
): Found[] {
  if (level === 'privileged') return []
  const rows = level === 'baseline' ? baseline : [...baseline, ...restricted]
  const at = Math.min(version, newest)
  return rows
    .filter(({ since = 0, until = newest }) => at >= since && at <= until)
    .map(({ check }) => check(spec, metadata))
    .filter((found) => found !== undefined)
}

export const reasonsOf = (found: readonly Found[]): string =>
  found.map(({ reason }) => reason).join(', ')

export const detailsOf = (found: readonly Found[]): string =>
  found.map(({ reason, detail }) => `${reason} (${detail})`).join(', ')
