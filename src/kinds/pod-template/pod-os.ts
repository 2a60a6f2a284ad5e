/** The operating system of a pod, and the settings that pods of the other one may not have. */
import { type FieldError, forbidden, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { change } from '#api/releases/change.ts'
import { containersWithPaths } from './containers-of.ts'
import type { PodRules } from './pod-rules.ts'

const systems = ['linux', 'windows']

const hasAppArmor = change('Windows pods may not have appArmorProfile', { since: 30 })
const hasHostUsers = change('Windows pods may not have hostUsers', { since: 25 })
const hasGroupsPolicy = change('Windows pods may not have supplementalGroupsPolicy', { since: 31 })
const hasSeLinuxPolicy = change('Windows pods may not have seLinuxChangePolicy', { since: 32 })

type Row = readonly [field: string, since?: ReturnType<typeof change>]

/** The fields of a pod's security context, in kube-apiserver's order. */
const podFields: readonly Row[] = [
  ['appArmorProfile', hasAppArmor],
  ['seLinuxOptions'],
  ['seccompProfile'],
  ['fsGroup'],
  ['fsGroupChangePolicy'],
  ['sysctls'],
  ['runAsUser'],
  ['runAsGroup'],
  ['supplementalGroups'],
  ['supplementalGroupsPolicy', hasGroupsPolicy],
  ['seLinuxChangePolicy', hasSeLinuxPolicy],
]

const containerFields: readonly Row[] = [
  ['appArmorProfile', hasAppArmor],
  ['seLinuxOptions'],
  ['seccompProfile'],
  ['capabilities'],
  ['readOnlyRootFilesystem'],
  ['privileged'],
  ['allowPrivilegeEscalation'],
  ['procMount'],
  ['runAsUser'],
  ['runAsGroup'],
]

export function checkOs(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  if (!spec.os) return []
  const name: string = spec.os.name ?? ''
  if (name === '') return [required(path.child('os', 'name'))]
  if (!systems.includes(name)) return [notSupported(path.child('os'), name, systems)]
  return name === 'linux' ? checkLinux(spec, path) : checkWindows(spec, path, rules)
}

function checkLinux(spec: Loose, path: FieldPath): FieldError[] {
  const detail = 'windows options cannot be set for a linux pod'
  const holders = [{ container: spec, path }, ...containersWithPaths(spec, path, true)]
  return holders.flatMap(({ container, path: at }) =>
    container.securityContext?.windowsOptions
      ? [forbidden(at.child('securityContext', 'windowsOptions'), detail)]
      : [],
  )
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== false

function checkWindows(spec: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (at: FieldPath) => errors.push(forbidden(at, 'cannot be set for a windows pod'))
  const refuseFields = (context: Loose | undefined, fields: readonly Row[], at: FieldPath) => {
    if (!context) return
    for (const [field, since] of fields) {
      if (since !== undefined && !rules.has(since)) continue
      const value = context[field] ?? undefined
      const isEmptyList = field === 'supplementalGroups' && wasWrittenEmpty(context, field)
      if (value !== undefined || isEmptyList) refuse(at.child('securityContext', field))
    }
  }
  refuseFields(spec.securityContext, podFields, path)
  if (rules.has(hasHostUsers) && (spec.hostUsers ?? undefined) !== undefined) {
    refuse(path.child('hostUsers'))
  }
  for (const field of ['hostPID', 'hostIPC']) if (isSet(spec[field])) refuse(path.child(field))
  if ((spec.shareProcessNamespace ?? undefined) !== undefined) {
    refuse(path.child('shareProcessNamespace'))
  }
  for (const { container, path: at } of containersWithPaths(spec, path, true)) {
    refuseFields(container.securityContext, containerFields, at)
  }
  return errors
}
