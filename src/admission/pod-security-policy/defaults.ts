/** Applies the defaults of a PodSecurityPolicy to the fields that a pod does not set, in place. */
import { containersOf } from '#admission/containers.ts'
import { byCodePoint } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { defaultIdOf } from './ids.ts'
import { applyDefaultProfiles } from './profiles.ts'
import { effective, setOwn } from './security-context.ts'

export function applyPolicy(policy: KubeObject, pod: KubeObject): void {
  const rules: Loose = policy.spec
  const { spec } = pod
  const give = (field: string, value: unknown) => {
    const context: Loose = (spec.securityContext ??= {})
    if (value === undefined || (context[field] ?? null) !== null) return
    if (!wasWrittenEmpty(context, field)) context[field] = value
  }
  const group = defaultIdOf(rules.supplementalGroups)
  give('supplementalGroups', group === undefined ? undefined : [group])
  give('fsGroup', defaultIdOf(rules.fsGroup))
  const seLinux = rules.seLinux?.rule === 'MustRunAs' ? rules.seLinux.seLinuxOptions : undefined
  give('seLinuxOptions', seLinux && { ...seLinux })
  const containers = [...containersOf(spec)].map(({ container }) => container)
  applyDefaultProfiles(policy, pod, containers)
  const runtimeClass = rules.runtimeClass?.defaultRuntimeClassName
  if (runtimeClass !== undefined && spec.runtimeClassName === undefined)
    spec.runtimeClassName = runtimeClass
  for (const container of containers) applyToContainer(rules, spec, container)
}

function applyToContainer(rules: Loose, spec: Loose, container: Loose): void {
  const has = (field: string) => effective(spec, container, field) !== undefined
  if (!has('runAsUser')) setOwn(spec, container, 'runAsUser', defaultIdOf(rules.runAsUser))
  if (!has('runAsGroup')) setOwn(spec, container, 'runAsGroup', defaultIdOf(rules.runAsGroup))
  if (!has('runAsNonRoot') && !has('runAsUser') && rules.runAsUser?.rule === 'MustRunAsNonRoot') {
    setOwn(spec, container, 'runAsNonRoot', true)
  }
  setOwn(
    spec,
    container,
    'capabilities',
    capabilitiesGiven(rules, container.securityContext?.capabilities),
  )
  if (rules.readOnlyRootFilesystem === true && !has('readOnlyRootFilesystem')) {
    setOwn(spec, container, 'readOnlyRootFilesystem', true)
  }
  if (!has('allowPrivilegeEscalation')) {
    setOwn(spec, container, 'allowPrivilegeEscalation', rules.defaultAllowPrivilegeEscalation)
  }
  if (rules.allowPrivilegeEscalation === false && !has('allowPrivilegeEscalation')) {
    setOwn(spec, container, 'allowPrivilegeEscalation', false)
  }
}

function capabilitiesGiven(rules: Loose, own: Loose | undefined): Loose | undefined {
  const drop = new Set<string>([...(own?.drop ?? []), ...(rules.requiredDropCapabilities ?? [])])
  const dropped = new Set<string>(own?.drop ?? [])
  const more = ((rules.defaultAddCapabilities ?? []) as string[]).filter(
    (name) => !dropped.has(name),
  )
  const add = new Set<string>([...(own?.add ?? []), ...more])
  if (add.size === new Set(own?.add ?? []).size && drop.size === dropped.size) return own
  return {
    ...(add.size > 0 && { add: [...add].sort(byCodePoint) }),
    ...(drop.size > 0 && { drop: [...drop].sort(byCodePoint) }),
  }
}
