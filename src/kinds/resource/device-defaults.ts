/** Defaults of requests and taints, in all versions that have them. */
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'
import { requestsHaveAlternatives } from './device-claim.ts'

const request: Defaulter = (value) => {
  value.allocationMode ||= 'ExactCount'
  if (value.allocationMode === 'ExactCount') value.count ||= 1
}

/**
 * Before v1beta2, a request with alternatives has neither a device class nor a mode and a count of
 * its own.
 */
const flatRequest: Defaulter = (value, context) => {
  const mayHaveNone = releaseOf(context.release).has(requestsHaveAlternatives)
  if (value.deviceClassName || !mayHaveNone) request(value, context)
}

const taint: Defaulter = (value: Loose, { time }) => {
  const now = time?.()
  if (now !== undefined) value.timeAdded ??= now
}

const toleration: Defaulter = (value) => {
  value.operator ||= 'Equal'
}

const ofVersion = (version: string): Defaulters => ({
  [`io.k8s.api.resource.${version}.ExactDeviceRequest`]: request,
  [`io.k8s.api.resource.${version}.DeviceSubRequest`]: request,
  [`io.k8s.api.resource.${version}.DeviceTaint`]: taint,
  [`io.k8s.api.resource.${version}.DeviceToleration`]: toleration,
})

export const deviceDefaults: Defaulters = {
  ...ofVersion('v1'),
  ...ofVersion('v1beta2'),
  ...ofVersion('v1beta1'),
  ...ofVersion('v1alpha3'),
  'io.k8s.api.resource.v1beta1.DeviceRequest': flatRequest,
  'io.k8s.api.resource.v1alpha3.DeviceRequest': flatRequest,
}
