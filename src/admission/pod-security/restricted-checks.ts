/** The checks that the level `restricted` adds to `baseline`. */
import type { Loose } from '#api/object-meta.ts'
import { added, seccompBaseline } from './baseline-checks.ts'
import {
  type PodCheck,
  named,
  namesOf,
  namesWhere,
  perContainer,
  settersOf,
  sorted,
} from './check.ts'

export const capabilitiesRestricted: PodCheck = (spec) => {
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

const allowedVolumes =
  'configMap csi downwardAPI emptyDir ephemeral persistentVolumeClaim projected secret'.split(' ')
const otherVolumes =
  'hostPath gcePersistentDisk awsElasticBlockStore gitRepo nfs iscsi glusterfs rbd flexVolume cinder cephfs flocker fc azureFile vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO storageos'.split(
    ' ',
  )
const restrictedVolumesBut =
  (allowed: readonly string[]): PodCheck =>
  ({ volumes = [] }) => {
    const has = (volume: Loose) => (type: string) => volume[type] !== undefined
    const bad = (volumes as Loose[]).filter((volume) => !allowed.some(has(volume)))
    if (bad.length === 0) return undefined
    const types = sorted(bad.map((volume) => otherVolumes.find(has(volume)) ?? 'unknown'))
    const use = bad.length === 1 ? 'uses' : 'use'
    const detail = `${named('volume', namesOf(bad))} ${use} ${named('restricted volume type', types)}`
    return { reason: 'restricted volume types', detail }
  }
export const restrictedVolumes = restrictedVolumesBut([...allowedVolumes, 'image'])
/** In releases without image volumes. */
export const restrictedVolumesFirst = restrictedVolumesBut(allowedVolumes)

/** The containers for which neither the container nor the pod sets the required value. */
const leftOpen = (spec: Loose, field: string, isRight: (value: unknown) => boolean): string[] =>
  isRight(spec.securityContext?.[field])
    ? []
    : namesWhere(spec, ({ securityContext }) => securityContext?.[field] === undefined)

export const runAsNonRoot: PodCheck = (spec) => {
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

export const seccompRestricted: PodCheck = (spec) => {
  const set = seccompBaseline(spec, {})
  if (set !== undefined) return set
  const open = leftOpen(spec, 'seccompProfile', (profile) => profile !== undefined)
  if (open.length === 0) return undefined
  const detail = `pod or ${named('container', open)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
  return { reason: 'seccompProfile', detail }
}

export const runAsUser: PodCheck = (spec) => {
  const setters = settersOf(spec, (context) => context.runAsUser === 0)
  if (setters.length === 0) return undefined
  return { reason: 'runAsUser=0', detail: `${setters.join(' and ')} must not set runAsUser=0` }
}

export const allowPrivilegeEscalation = perContainer(
  'allowPrivilegeEscalation != false',
  (context) => context.allowPrivilegeEscalation !== false,
  'must set securityContext.allowPrivilegeEscalation=false',
)
