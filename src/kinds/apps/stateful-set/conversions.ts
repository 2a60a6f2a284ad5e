/**
 * StatefulSet: apps/v1beta1 writes a generation that was never observed as 0; apps/v1, the hub,
 * leaves it out.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { Conversion, Conversions } from '#kinds/all-kinds/conversion.ts'

/**
 * A generation that was never observed is written as 0 in the first beta and not at all in the hub.
 */
const statefulSet: Conversion = {
  toHub(object) {
    if (object.status?.observedGeneration === 0) delete object.status.observedGeneration
    return object
  },
  fromHub(object: KubeObject) {
    if (object.status) object.status.observedGeneration ??= 0
    return object
  },
}

export const statefulSetConversions: Conversions = { 'apps/v1beta1': statefulSet }
