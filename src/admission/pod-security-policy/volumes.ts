/** Checks the volumes of a pod against a policy: by type, host path and driver. */
import { containersOf } from '#admission/containers.ts'
import { type FieldError, invalid } from '#api/field-error.ts'
import type { Loose } from '#api/object-meta.ts'
import { volumeTypes } from '#kinds/policy/pod-security-policy/volume-types.ts'

/** Field names of volumes by the names that policies use; a few differ in case. */
const byField = new Map(volumeTypes.map((type) => [type.toLowerCase(), type]))

function typeOf(volume: Loose): string | undefined {
  for (const [field, source] of Object.entries(volume)) {
    const type = byField.get(field.toLowerCase())
    if (type !== undefined && source) return type
  }
  return undefined
}

export function volumeProblems(policy: Loose, spec: Loose): FieldError[] {
  const allowed: string[] = policy.volumes ?? []
  return ((spec.volumes ?? []) as Loose[]).flatMap((volume, i) => {
    const path = `spec.volumes[${i}]`
    const type = typeOf(volume)
    if (type === undefined) return [invalid(path, '', 'unknown volume type for volume')]
    const ofSecrets =
      type === 'projected' && allowed.includes('secret') && isTokenOnly(volume.projected)
    if (!allowed.includes('*') && !allowed.includes(type) && !ofSecrets) {
      return [invalid(path, type, `${type} volumes are not allowed to be used`)]
    }
    if (type === 'hostPath') return hostPathProblems(policy, spec, volume, path)
    if (type === 'flexVolume') {
      const { driver } = volume.flexVolume
      return allows(policy.allowedFlexVolumes, 'driver', driver)
        ? []
        : [invalid(`${path}.driver`, driver, 'Flexvolume driver is not allowed to be used')]
    }
    if (type !== 'csi' || allows(policy.allowedCSIDrivers, 'name', volume.csi.driver)) return []
    return [
      invalid(
        `${path}.csi.driver`,
        volume.csi.driver,
        'Inline CSI driver is not allowed to be used',
      ),
    ]
  })
}

/** Without a list, all are allowed. */
const allows = (list: Loose[] | undefined, field: string, driver: string) =>
  (list?.length ?? 0) === 0 || (list as Loose[]).some((one) => one[field] === driver)

function hostPathProblems(
  policy: Loose,
  spec: Loose,
  { name, hostPath }: Loose,
  path: string,
): FieldError[] {
  const rules: Loose[] = policy.allowedHostPaths ?? []
  if (rules.length === 0) return []
  const matching = rules.filter(({ pathPrefix = '' }) => isBelow(hostPath.path ?? '', pathPrefix))
  if (matching.length === 0) {
    return [
      invalid(`${path}.hostPath.pathPrefix`, hostPath.path ?? '', 'is not allowed to be used'),
    ]
  }
  if (matching.some(({ readOnly }) => readOnly !== true)) return []
  return [...containersOf(spec)].flatMap(({ container, path: at }) =>
    ((container.volumeMounts ?? []) as Loose[]).flatMap((mount, i) =>
      mount.name === name && mount.readOnly !== true
        ? [invalid(`${at}.volumeMounts[${i}].readOnly`, false, 'must be read-only')]
        : [],
    ),
  )
}

function isBelow(path: string, prefix: string): boolean {
  const bare = (text: string) => (text.endsWith('/') ? text.slice(0, -1) : text)
  return bare(path) === bare(prefix) || bare(path).startsWith(`${bare(prefix)}/`)
}

/** Whether the volume contains only what the ServiceAccount plugin mounts. */
function isTokenOnly({ sources }: Loose): boolean {
  return ((sources ?? []) as Loose[]).every(
    ({ serviceAccountToken: token, configMap, downwardAPI }) => {
      if (!token && !configMap && !downwardAPI) return false
      if (token && (token.path !== 'token' || token.audience)) return false
      if (configMap && configMap.name !== 'kube-root-ca.crt') return false
      return ((downwardAPI?.items ?? []) as Loose[]).every(
        ({ path, fieldRef }) =>
          path === 'namespace' &&
          fieldRef?.apiVersion === 'v1' &&
          fieldRef.fieldPath === 'metadata.namespace',
      )
    },
  )
}
