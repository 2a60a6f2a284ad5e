/** Validates a pod against a PodSecurityPolicy. Each error has the path of its field. */
import { containersOf } from '#admission/containers.ts'
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { asGo, goQuote } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { listAsWritten } from '#kinds/all-kinds/checks.ts'
import { groupProblems, userProblems } from './ids.ts'
import { containerProfileProblems, podProfileProblems } from './profiles.ts'
import { effective } from './security-context.ts'
import { volumeProblems } from './volumes.ts'

const safeSysctls = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]

export function policyProblems(policy: KubeObject, pod: KubeObject): FieldError[] {
  const rules: Loose = policy.spec
  const { spec } = pod
  const context: Loose = spec.securityContext ?? {}
  const path = 'spec.securityContext'
  const fsGroups = context.fsGroup === undefined ? undefined : [context.fsGroup]
  const errors = [
    ...groupProblems(rules.fsGroup, `${path}.fsGroup`, fsGroups),
    ...groupProblems(
      rules.supplementalGroups,
      `${path}.supplementalGroups`,
      listAsWritten(context, 'supplementalGroups'),
    ),
    ...podProfileProblems(policy, pod),
    ...seLinuxProblems(rules, `${path}.seLinuxOptions`, context.seLinuxOptions),
  ]
  for (const [field, stated] of [
    ['hostNetwork', 'network'],
    ['hostPID', 'PID'],
    ['hostIPC', 'IPC'],
  ] as const) {
    if (rules[field] === true || spec[field] !== true) continue
    errors.push(invalid(`${path}.${field}`, true, `Host ${stated} is not allowed to be used`))
  }
  errors.push(...sysctlProblems(rules, context.sysctls ?? []), ...volumeProblems(rules, spec))
  const classes: string[] = rules.runtimeClass?.allowedRuntimeClassNames ?? []
  const wanted = spec.runtimeClassName
  if (
    rules.runtimeClass &&
    wanted !== undefined &&
    !classes.includes('*') &&
    !classes.includes(wanted)
  ) {
    errors.push(invalid('spec.runtimeClassName', wanted, ''))
  }
  for (const { container, path: at } of containersOf(spec)) {
    errors.push(...containerProblems(policy, pod, container, at))
  }
  return errors
}

function containerProblems(
  policy: KubeObject,
  pod: KubeObject,
  container: Loose,
  at: string,
): FieldError[] {
  const rules: Loose = policy.spec
  const { spec } = pod
  const path = `${at}.securityContext`
  const get = (field: string) => effective(spec, container, field)
  const group = get('runAsGroup') as number | undefined
  return [
    ...userProblems(
      rules.runAsUser ?? {},
      path,
      get('runAsUser') as number | undefined,
      get('runAsNonRoot') as boolean | undefined,
    ),
    ...groupProblems(rules.runAsGroup, path, group === undefined ? undefined : [group]),
    ...seLinuxProblems(rules, `${path}.seLinuxOptions`, get('seLinuxOptions') as Loose | undefined),
    ...containerProfileProblems(policy, pod, container),
    ...flagProblems(rules, path, get),
    ...capabilityProblems(rules, `${path}.capabilities`, get('capabilities') as Loose | undefined),
    ...hostPortProblems(rules, at, container),
    ...rootProblems(rules, path, get),
  ]
}

type Get = (field: string) => unknown

function flagProblems(rules: Loose, path: string, get: Get): FieldError[] {
  const errors: FieldError[] = []
  if (rules.privileged !== true && get('privileged') === true) {
    errors.push(invalid(`${path}.privileged`, true, 'Privileged containers are not allowed'))
  }
  const mounts: string[] =
    rules.allowedProcMountTypes?.length > 0 ? rules.allowedProcMountTypes : ['Default']
  const procMount = (get('procMount') as string | undefined) ?? 'Default'
  if (!mounts.includes(procMount))
    errors.push(invalid(`${path}.procMount`, procMount, 'ProcMountType is not allowed'))
  return errors
}

function rootProblems(rules: Loose, path: string, get: Get): FieldError[] {
  const errors: FieldError[] = []
  const readOnly = get('readOnlyRootFilesystem')
  if (rules.readOnlyRootFilesystem === true && readOnly !== true) {
    const why =
      readOnly === undefined ? ' may not be nil and must be set to true' : ' must be set to true'
    errors.push(
      invalid(`${path}.readOnlyRootFilesystem`, readOnly ?? 'null', `ReadOnlyRootFilesystem${why}`),
    )
  }
  const escalation = get('allowPrivilegeEscalation')
  if (rules.allowPrivilegeEscalation === false && escalation !== false) {
    errors.push(
      invalid(
        `${path}.allowPrivilegeEscalation`,
        escalation ?? 'null',
        'Allowing privilege escalation for containers is not allowed',
      ),
    )
  }
  return errors
}

function seLinuxProblems(rules: Loose, path: string, options: Loose | undefined): FieldError[] {
  if (rules.seLinux?.rule !== 'MustRunAs') return []
  if (options === undefined) return [required(path)]
  const wanted: Loose = rules.seLinux.seLinuxOptions ?? {}
  return ['level', 'role', 'type', 'user'].flatMap((field) => {
    const [expected, actual]: [string, string] = [wanted[field] ?? '', options[field] ?? '']
    const same = field === 'level' ? sameLevel(expected, actual) : expected === actual
    return same ? [] : [invalid(`${path}.${field}`, actual, `must be ${expected}`)]
  })
}

/** Compares levels such that `s0:c1,c2` equals `s0:c2,c1`. */
function sameLevel(a: string, b: string): boolean {
  const sorted = (level: string) => {
    const colon = level.indexOf(':')
    return colon < 0
      ? level
      : `${level.slice(0, colon)}:${level
          .slice(colon + 1)
          .split(',')
          .sort()
          .join(',')}`
  }
  return sorted(a) === sorted(b)
}

function capabilityProblems(
  rules: Loose,
  path: string,
  capabilities: Loose | undefined,
): FieldError[] {
  const given: string[] = rules.defaultAddCapabilities ?? []
  const drops: string[] = rules.requiredDropCapabilities ?? []
  if (capabilities === undefined) {
    if (given.length === 0 && drops.length === 0) return []
    return [invalid(path, 'null', 'required capabilities are not set on the securityContext')]
  }
  const allowed: string[] = rules.allowedCapabilities ?? []
  if (allowed.includes('*')) return []
  const dropped: string[] | undefined = capabilities.drop
  const shown =
    dropped === undefined
      ? '[]core.Capability(nil)'
      : `[]core.Capability{${dropped.map(goQuote).join(', ')}}`
  return [
    ...((capabilities.add ?? []) as string[])
      .filter((name) => !given.includes(name) && !allowed.includes(name))
      .map((name) => invalid(`${path}.add`, name, 'capability may not be added')),
    ...drops
      .filter((name) => !(dropped ?? []).includes(name))
      .map((name) =>
        invalid(`${path}.drop`, asGo(shown), `${name} is required to be dropped but was not found`),
      ),
  ]
}

function hostPortProblems(rules: Loose, at: string, { ports = [] }: Loose): FieldError[] {
  const ranges: Loose[] = rules.hostPorts ?? []
  const text = ranges
    .map(({ min = 0, max = 0 }) => (min === max ? `${min}` : `${min}-${max}`))
    .join(',')
  return (ports as Loose[]).flatMap(({ hostPort = 0 }) => {
    if (hostPort <= 0 || ranges.some(({ min = 0, max = 0 }) => hostPort >= min && hostPort <= max))
      return []
    return [
      invalid(
        `${at}.hostPort`,
        hostPort,
        `Host port ${hostPort} is not allowed to be used. Allowed ports: [${text}]`,
      ),
    ]
  })
}

function sysctlProblems(rules: Loose, sysctls: Loose[]): FieldError[] {
  const matches = (patterns: string[] | undefined, name: string) =>
    (patterns ?? []).some((one) =>
      one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : one === name,
    )
  return sysctls.flatMap(({ name }, i) => {
    const path = `pod.spec.securityContext.sysctls[${i}]`
    if (matches(rules.forbiddenSysctls, name))
      return [forbidden(path, `sysctl ${goQuote(name)} is not allowed`)]
    if (safeSysctls.includes(name) || matches(rules.allowedUnsafeSysctls, name)) return []
    return [forbidden(path, `unsafe sysctl ${goQuote(name)} is not allowed`)]
  })
}
