/** Who a pod's processes run as and what they may do, for the pod and for each container. */
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
import { each } from '#kinds/all-kinds/checks.ts'
import { goSecurityContext } from './go-values.ts'
import type { PodRules } from './pod-rules.ts'
import { checkSeccompProfile } from './seccomp.ts'
import { checkWindowsOptions } from './windows-options.ts'

/** The path's parent is the pod spec: host namespaces are set there. */
export function checkPodSecurityContext(spec: Loose, path: FieldPath): FieldError[] {
  const context: Loose = spec.securityContext ?? {}
  const at = path.child('securityContext')
  const errors: FieldError[] = []
  if (spec.hostNetwork) errors.push(...checkHostPorts(spec.containers, path.child('containers')))
  errors.push(...checkIds(context, at, ['fsGroup', 'runAsUser', 'runAsGroup']))
  ;((context.supplementalGroups ?? []) as number[]).forEach((id, i) => {
    errors.push(...each(at.child('supplementalGroups').index(i), id, groupId(id)))
  })
  if (spec.shareProcessNamespace && spec.hostPID) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled'
    errors.push(invalid(at.child('shareProcessNamespace'), true, detail))
  }
  errors.push(...checkSysctls(context.sysctls, at.child('sysctls')))
  const policy = context.fsGroupChangePolicy ?? undefined
  const policies = ['Always', 'OnRootMismatch']
  if (policy !== undefined && !policies.includes(policy)) {
    errors.push(notSupported(at.child('fsGroupChangePolicy'), policy, policies))
  }
  errors.push(...checkSeccompProfile(context.seccompProfile, at.child('seccompProfile')))
  errors.push(...checkWindowsOptions(context.windowsOptions, at.child('windowsOptions')))
  return errors
}

function checkIds(context: Loose, path: FieldPath, fields: readonly string[]): FieldError[] {
  return fields.flatMap((field) => {
    const id = context[field] ?? undefined
    if (id === undefined) return []
    return each(path.child(field), id, field === 'runAsUser' ? userId(id) : groupId(id))
  })
}

function checkHostPorts(containers: Loose[] | null | undefined, path: FieldPath): FieldError[] {
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

const sysctlLengthMax = 253
const sysctlSegment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const sysctlSource = `(${sysctlSegment}\\.)*${sysctlSegment}`
const sysctlForm = new RegExp(`^${sysctlSource}$`)

const isSysctlName = (name: string): boolean =>
  !longerThan(name, sysctlLengthMax) && sysctlForm.test(name)

function checkSysctls(sysctls: Loose[] | null | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  ;(sysctls ?? []).forEach((sysctl, i) => {
    const at = path.index(i).child('name')
    const name: string = sysctl.name ?? ''
    if (name === '') {
      errors.push(required(at))
    } else if (!isSysctlName(name)) {
      const detail = `must have at most ${sysctlLengthMax} characters and match regex ${sysctlSource}`
      errors.push(invalid(at, name, detail))
    } else if (names.has(name)) {
      errors.push(duplicate(at, name))
    }
    names.add(name)
  })
  return errors
}

export function checkSecurityContext(
  context: Loose | null | undefined,
  path: FieldPath,
  rules: PodRules,
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
  errors.push(...checkSeccompProfile(context.seccompProfile, path.child('seccompProfile')))
  if (escalation === false) {
    const conflict = (other: string) =>
      errors.push(
        invalid(
          path,
          goSecurityContext(context, rules.release),
          `cannot set \`allowPrivilegeEscalation\` to false and ${other}`,
        ),
      )
    if (privileged === true) conflict('`privileged` to true')
    for (const capability of (context.capabilities?.add ?? []) as string[]) {
      if (capability === 'CAP_SYS_ADMIN') conflict('`capabilities.Add` CAP_SYS_ADMIN')
    }
  }
  errors.push(...checkWindowsOptions(context.windowsOptions, path.child('windowsOptions')))
  return errors
}
