/**
 * Conversions of Deployment: the beta versions have spec.rollbackTo; apps/v1, the hub, keeps it in
 * an annotation.
 */
import { annotate, annotationOf, dropAnnotations } from '#kinds/all-kinds/annotations.ts'
import type { Conversion, Conversions } from '#kinds/all-kinds/conversion.ts'
import { isNumber } from '#kinds/all-kinds/is-number-text.ts'

export const rollbackKey = 'deprecated.deployment.rollback.to'

const deployment: Conversion = {
  toHub(object) {
    dropAnnotations(object, [rollbackKey])
    const rollback = object.spec?.rollbackTo
    if (!rollback) return object
    delete object.spec.rollbackTo
    annotate(object, rollbackKey, String(rollback.revision ?? 0))
    return object
  },
  fromHub(object) {
    const revision = annotationOf(object, rollbackKey)
    if (!revision || !isNumber(revision)) return object
    dropAnnotations(object, [rollbackKey])
    object.spec ??= {}
    object.spec.rollbackTo = revision === '0' ? {} : { revision: Number(revision) }
    return object
  },
}

export const deploymentConversions: Conversions = {
  'extensions/v1beta1': deployment,
  'apps/v1beta1': deployment,
}
