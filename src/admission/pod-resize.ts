/**
 * The PodResize plugin. A pod may be resized only if its node supports that, and only up to the
 * node's allocatable capacity.
 */
import type { KubeObject } from '#api/object-meta.ts'
import {
  compareQuantities,
  type Quantity,
  quantityMilliValue,
  quantityValue,
  zeroQuantity,
} from '#api/quantity.ts'
import type { ApiError } from '#api/status-error.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { podAmounts } from './pod-amounts.ts'
import { refusal } from './refusal.ts'

export const podResize: AdmissionPlugin = {
  name: 'PodResizeValidator',
  validate(request, reader) {
    const { kind, subresource, operation, object, old } = request
    if (operation !== 'UPDATE' || kind.plural !== 'pods' || kind.group !== '') return
    if (subresource !== 'resize' || !object?.spec.nodeName) return
    // The generation increases with every change of the spec.
    if (object.metadata.generation !== old?.metadata.generation)
      return checkResize(request, object, reader)
  },
}

async function checkResize(
  request: AdmissionRequest,
  pod: KubeObject,
  reader: ObjectReader,
): Promise<void> {
  const name: string = pod.spec.nodeName
  const node = await reader.get('', 'nodes', '', name)
  if (node === undefined) throw refusal(request, `node "${name}" not found`)
  const system = node.metadata.labels?.['kubernetes.io/os'] ?? 'linux'
  if (system !== 'linux') {
    const why = `pod resize is only supported on linux nodes, node "${name}" is "${system}"`
    throw withCause(refusal(request, why), 'UnsupportedPlatform')
  }
  const lacking = lackingOf(pod, node)
  if (lacking.length === 0) return
  const why = `node didn't have enough allocatable resources: ${lacking.join('; ')}`
  throw withCause(refusal(request, why), 'NodeCapacity')
}

function lackingOf(pod: KubeObject, node: KubeObject): string[] {
  const requests = podAmounts(pod, 'requests', { overhead: true, podLevel: true })
  return (['cpu', 'memory'] as const).flatMap((resource) => {
    const requested = requests.get(resource) ?? zeroQuantity
    const allocatable: Quantity | string = node.status?.allocatable?.[resource] ?? zeroQuantity
    if (compareQuantities(requested, allocatable) <= 0) return []
    const show = resource === 'cpu' ? quantityMilliValue : quantityValue
    return [`${resource}, requested: ${show(requested)}, allocatable: ${show(allocatable)}`]
  })
}

/** Adds a cause that has only a reason. */
function withCause(refused: ApiError, reason: string): ApiError {
  const { code, reason: why, message, details } = refused
  return new (refused.constructor as typeof ApiError)(code, why, message, {
    ...details,
    causes: [{ reason }],
  })
}
