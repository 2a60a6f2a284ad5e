/**
 * Defaults of Pod: those of a pod alone. What pod templates have too is in
 * pod-template/defaults.ts.
 */
import type { Loose } from '#api/object-meta.ts'
import { copyText } from '#api/written-text.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { isUnset } from '#kinds/all-kinds/is-unset.ts'
import { agreeOnPodIps, dropInitContainerAnnotations } from '#kinds/pod-template/normal-form.ts'
import { setKey } from '#schema/user-key.ts'

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

export const podDefaults: Defaulters = {
  'io.k8s.api.core.v1.Pod': pod,
  'io.k8s.api.core.v1.PodStatus': (value) => agreeOnPodIps(value),
}
