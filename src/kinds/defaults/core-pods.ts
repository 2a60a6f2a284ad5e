/** Defaults of pods and of everything in them, wherever a pod template stands. */
import type { Loose } from '#api/object-meta.ts'
import { roundUpToMilli } from '#api/quantity.ts'
import { copyText, rememberText, textWritten } from '#api/written-text.ts'
import {
  agreeOnPodIps,
  agreeOnServiceAccount,
  dropInitContainerAnnotations,
} from '#kinds/behaviour/pods/normal-form.ts'
import { imageTag } from '#kinds/image-name.ts'
import { setKey } from '#schema/user-key.ts'
import type { Defaulter, Defaulters } from './defaulter.ts'

const isUnset = (value: unknown): boolean => value === undefined || value === null

/** Amounts are kept in thousandths at least. */
export function roundAmounts(amounts: Record<string, string> | null | undefined): void {
  if (!amounts) return
  for (const name of Object.keys(amounts)) {
    const amount = amounts[name] as string
    const rounded = roundUpToMilli(amount)
    if (rounded === amount) continue
    if (textWritten(amounts, name) === undefined) rememberText(amounts, name, amount)
    // Names are the user's, but every one of them is the object's own already.
    amounts[name] = rounded
  }
}

/** Where limits are set and requests are not, requests are the limits. */
function requestLimits(container: Loose): void {
  const limits: Record<string, string> | undefined = container.resources?.limits
  if (!limits || Object.keys(limits).length === 0) return
  const before: Record<string, string> = container.resources.requests ?? {}
  const requests: Record<string, string> = { ...before }
  for (const name of Object.keys(before)) copyText(before, requests, name)
  for (const name of Object.keys(limits)) {
    if (Object.hasOwn(before, name)) continue
    setKey(requests, name, limits[name] as string)
    copyText(limits, requests, name)
  }
  container.resources.requests = requests
}

const pod: Defaulter = (value) => {
  dropInitContainerAnnotations(value.metadata)
  value.spec ??= {}
  for (const container of value.spec.containers ?? []) requestLimits(container)
  for (const container of value.spec.initContainers ?? []) requestLimits(container)
  if (isUnset(value.spec.enableServiceLinks)) value.spec.enableServiceLinks = true
}

const podSpec: Defaulter = (spec) => {
  spec.dnsPolicy ||= 'ClusterFirst'
  spec.restartPolicy ||= 'Always'
  if (spec.hostNetwork) {
    for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
      for (const port of container.ports ?? []) {
        if (port.containerPort) port.hostPort ||= port.containerPort
      }
    }
  }
  spec.securityContext ??= {}
  if (isUnset(spec.terminationGracePeriodSeconds)) spec.terminationGracePeriodSeconds = 30
  spec.schedulerName ||= 'default-scheduler'
  agreeOnServiceAccount(spec)
  roundAmounts(spec.overhead)
}

const container: Defaulter = (value) => {
  value.imagePullPolicy ||= imageTag(value.image ?? '') === 'latest' ? 'Always' : 'IfNotPresent'
  value.terminationMessagePath ||= '/dev/termination-log'
  value.terminationMessagePolicy ||= 'File'
}

const probe: Defaulter = (value) => {
  value.timeoutSeconds ||= 1
  value.periodSeconds ||= 10
  value.successThreshold ||= 1
  value.failureThreshold ||= 3
}

const isSource = (key: string, value: unknown): boolean => key !== 'name' && !isUnset(value)

const volume: Defaulter = (value) => {
  const hasSource = Object.entries(value).some(([key, source]) => isSource(key, source))
  if (!hasSource) value.emptyDir = {}
}

/** Files are readable by all and writable by their owner. */
const fileMode: Defaulter = (value) => {
  value.defaultMode ??= 0o644
}

const azureDisk: Defaulter = (value) => {
  value.cachingMode ??= 'ReadWrite'
  value.kind ??= 'Shared'
  value.fsType ??= 'ext4'
  value.readOnly ??= false
}

/** Persistent volumes of these kinds have the same defaults. */
export const iscsi: Defaulter = (value) => {
  value.iscsiInterface ||= 'default'
}
export const rbd: Defaulter = (value) => {
  value.pool ||= 'rbd'
  value.user ||= 'admin'
  value.keyring ||= '/etc/ceph/keyring'
}
export const scaleIo: Defaulter = (value) => {
  value.storageMode ||= 'ThinProvisioned'
  value.fsType ||= 'xfs'
}

/** The first release in which containers for a closer look have the defaults of the others. */
const ephemeralSince = 20
const ephemeralContainer: Defaulter = (value, context) => {
  if (context.release >= ephemeralSince) container(value, context)
}

const named = (type: string): string => `io.k8s.api.core.v1.${type}`

export const podDefaults: Defaulters = {
  [named('Pod')]: pod,
  [named('PodStatus')]: (value) => agreeOnPodIps(value),
  [named('PodTemplateSpec')]: (value) => dropInitContainerAnnotations(value.metadata),
  [named('PodSpec')]: podSpec,
  [named('Container')]: container,
  [named('EphemeralContainer')]: ephemeralContainer,
  [named('ContainerPort')]: (value) => {
    value.protocol ||= 'TCP'
  },
  [named('Probe')]: probe,
  [named('HTTPGetAction')]: (value) => {
    value.path ||= '/'
    value.scheme ||= 'HTTP'
  },
  [named('ResourceRequirements')]: (value) => {
    roundAmounts(value.limits)
    roundAmounts(value.requests)
  },
  [named('ObjectFieldSelector')]: (value) => {
    value.apiVersion ||= 'v1'
  },
  [named('Volume')]: volume,
  [named('SecretVolumeSource')]: fileMode,
  [named('ConfigMapVolumeSource')]: fileMode,
  [named('DownwardAPIVolumeSource')]: fileMode,
  [named('ProjectedVolumeSource')]: fileMode,
  [named('ServiceAccountTokenProjection')]: (value) => {
    value.expirationSeconds ??= 3600
  },
  [named('HostPathVolumeSource')]: (value) => {
    value.type ??= ''
  },
  [named('ISCSIVolumeSource')]: iscsi,
  [named('AzureDiskVolumeSource')]: azureDisk,
  [named('RBDVolumeSource')]: rbd,
  [named('ScaleIOVolumeSource')]: scaleIo,
  [named('ReplicationController')]: (value) => {
    value.spec ??= {}
    const labels: Record<string, string> | undefined = value.spec.template?.metadata?.labels
    if (labels) {
      if (Object.keys(value.spec.selector ?? {}).length === 0) value.spec.selector = { ...labels }
      if (Object.keys(value.metadata.labels ?? {}).length === 0)
        value.metadata.labels = { ...labels }
    }
    value.spec.replicas ??= 1
  },
}
