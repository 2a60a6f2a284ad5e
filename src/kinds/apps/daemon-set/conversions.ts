/**
 * Conversions of DaemonSet: extensions/v1beta1 has spec.templateGeneration; apps/v1, the hub, keeps
 * it in an annotation.
 */
import { annotate, annotationOf, dropAnnotations } from '#kinds/all-kinds/annotations.ts'
import type { Conversion, Conversions } from '#kinds/all-kinds/conversion.ts'
import { isNumber } from '#kinds/all-kinds/is-number-text.ts'

const templateGenerationKey = 'deprecated.daemonset.template.generation'

const daemonSet: Conversion = {
  toHub(object) {
    annotate(object, templateGenerationKey, String(object.spec?.templateGeneration ?? 0))
    if (object.spec) delete object.spec.templateGeneration
    return object
  },
  fromHub(object) {
    const generation = annotationOf(object, templateGenerationKey)
    if (generation === undefined || !isNumber(generation)) return object
    dropAnnotations(object, [templateGenerationKey])
    object.spec ??= {}
    if (Number(generation) !== 0) object.spec.templateGeneration = Number(generation)
    return object
  },
}

export const daemonSetConversions: Conversions = { 'extensions/v1beta1': daemonSet }
