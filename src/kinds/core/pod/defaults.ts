/**
 * Defaults that apply only to pods. Defaults that pod templates share are in
 * pod-template/defaults.ts.
 */
import type { Loose } from '#api/object-meta.ts'
import { copyText } from '#api/written-text.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { isUnset } from '#kinds/all-kinds/is-unset.ts'
import { containersOf } from '#kinds/pod-template/containers-of.ts'
import { defaultHostPorts } from '#kinds/pod-template/defaults.ts'
import { defaultPodResources } from '#kinds/pod-template/pod-resources.ts'
import { agreeOnPodIps, dropInitContainerAnnotations } from '#kinds/pod-template/normal-form.ts'
import { setKey } from '#schema/user-key.ts'

/** Requests that are not set get the amounts of the limits, with the texts as written. */
function defaultRequests(container: Loose): void {
  const limits: Record<string, string> | undefined = container.resources?.limits
  if (!limits || Object.keys(limits).length === 0) return
  const before: Record<string, string> = container.resources.requests ?? {}
  const requests: Record<string, string> = { ...before }
  // The copy above lacks the texts that clients wrote for amounts, which error messages show.
  for (const name of Object.keys(before)) copyText(before, requests, name)
  for (const name of Object.keys(limits)) {
    if (Object.hasOwn(before, name)) continue
    setKey(requests, name, limits[name] as string)
    copyText(limits, requests, name)
  }
  container.resources.requests = requests
}

/** The fields of a container that can have an HTTP action. */
const handlerPaths = [
  ['livenessProbe'],
  ['readinessProbe'],
  ['startupProbe'],
  ['lifecycle', 'postStart'],
  ['lifecycle', 'preStop'],
]

function httpActions(spec: Loose): Loose[] {
  return containersOf(spec).flatMap((container) =>
    handlerPaths.flatMap((steps) => {
      const handler = steps.reduce<Loose | undefined>((at, step) => at?.[step], container)
      return handler?.httpGet ?? []
    }),
  )
}

const graceIsPositive = change('a negative grace period of a new pod becomes one second', {
  since: 37,
})
const podsHaveHostPorts = change('ports of pods on the host network have host ports', { since: 28 })

const pod: Defaulter = (value, { release, feature }) => {
  const { has } = releaseOf(release)
  dropInitContainerAnnotations(value.metadata)
  value.spec ??= {}
  const { spec } = value
  if (spec.terminationGracePeriodSeconds < 0 && has(graceIsPositive)) {
    spec.terminationGracePeriodSeconds = 1
  }
  for (const container of spec.containers ?? []) defaultRequests(container)
  for (const container of spec.initContainers ?? []) defaultRequests(container)
  if (feature('PodLevelResources') && !feature('PodLevelResourcesFixDefaulting')) {
    defaultPodResources(spec, { has, limits: false })
  }
  if (has(podsHaveHostPorts)) defaultHostPorts(spec)
  if (feature('H2CContainerProbe'))
    for (const action of httpActions(spec)) action.protocol ??= 'HTTP1'
  if (isUnset(value.spec.enableServiceLinks)) value.spec.enableServiceLinks = true
}

export const podDefaults: Defaulters = {
  'io.k8s.api.core.v1.Pod': pod,
  'io.k8s.api.core.v1.PodStatus': (value) => agreeOnPodIps(value),
}
