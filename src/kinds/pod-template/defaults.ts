/** Defaults of everything in a pod template, and of the claims that templates have. */
import { ephemeralHaveDefaults } from '#kinds/stored-fields.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { isUnset } from '#kinds/all-kinds/is-unset.ts'
import { roundAmounts } from '#kinds/all-kinds/round-amounts.ts'
import { persistentVolumeClaimDefaults } from '#kinds/core/persistent-volume-claim/defaults.ts'
import { imageTag } from '#kinds/image-name.ts'
import { agreeOnServiceAccount, dropInitContainerAnnotations } from './normal-form.ts'
import { volumeDefaults } from './volume-defaults.ts'

const templatesHaveHostPorts = change(
  'ports of pod templates on the host network have host ports',
  {
    until: 27,
  },
)

/** On the host network, a port of a container is a port of the host. */
export function defaultHostPorts(spec: Loose): void {
  if (!spec.hostNetwork) return
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    for (const port of container.ports ?? []) {
      if (port.containerPort) port.hostPort ||= port.containerPort
    }
  }
}

const podSpec: Defaulter = (spec, context) => {
  spec.dnsPolicy ||= 'ClusterFirst'
  spec.restartPolicy ||= 'Always'
  if (releaseOf(context.release).has(templatesHaveHostPorts)) defaultHostPorts(spec)
  spec.securityContext ??= {}
  if (isUnset(spec.terminationGracePeriodSeconds)) spec.terminationGracePeriodSeconds = 30
  spec.schedulerName ||= 'default-scheduler'
  agreeOnServiceAccount(spec)
  roundAmounts(spec.overhead)
}

const container: Defaulter = (value) => {
  value.imagePullPolicy ||= pullPolicyOf(value.image ?? '')
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
  if (value.image) value.image.pullPolicy ||= pullPolicyOf(value.image.reference ?? '')
}

const pullPolicyOf = (image: string): string =>
  imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent'

/** Files are readable by all and writable by their owner. */
const fileMode: Defaulter = (value) => {
  value.defaultMode ??= 0o644
}

const ephemeralContainer: Defaulter = (value, context) => {
  if (releaseOf(context.release).has(ephemeralHaveDefaults)) container(value, context)
}

const named = (type: string): string => `io.k8s.api.core.v1.${type}`

export const podTemplateDefaults: Defaulters = {
  ...persistentVolumeClaimDefaults,
  ...volumeDefaults,
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
  [named('GRPCAction')]: (value) => {
    value.service ??= ''
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
}
