/**
 * Conversions of RuntimeClass: v1alpha1 has a spec; later versions, including the hub, have its
 * fields at the top level.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Conversion, Conversions } from '#kinds/all-kinds/conversion.ts'

function toHub(object: KubeObject): KubeObject {
  const { runtimeHandler = '', overhead, scheduling }: Loose = object.spec ?? {}
  delete object.spec
  object.handler = runtimeHandler
  if (overhead !== undefined) object.overhead = overhead
  if (scheduling !== undefined) object.scheduling = scheduling
  return object
}

function fromHub(object: KubeObject): KubeObject {
  const { handler = '', overhead, scheduling } = object
  const spec: Loose = { runtimeHandler: handler }
  if (overhead !== undefined) spec.overhead = overhead
  if (scheduling !== undefined) spec.scheduling = scheduling
  for (const field of ['handler', 'overhead', 'scheduling']) delete object[field]
  object.spec = spec
  return object
}

const conversion: Conversion = { toHub, fromHub }

export const runtimeClassConversions: Conversions = { 'node.k8s.io/v1alpha1': conversion }
