/**
 * Deployments and sets: the betas have fields that apps/v1, the hub, keeps in annotations: the revision a deployment is
 * rolled back to, and how often the template of a daemon set changed.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { annotate, annotationOf, dropAnnotations } from './annotations.ts'
import type { Conversion, Conversions } from './conversion.ts'

export const rollbackKey = 'deprecated.deployment.rollback.to'
const templateGenerationKey = 'deprecated.daemonset.template.generation'

const isNumber = (text: string): boolean => /^[+-]?[0-9]+$/.test(text)

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

/** A generation that was never observed is written as 0 in the first beta and not at all in the hub. */
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

export const deploymentConversions: Conversions = {
  'extensions/v1beta1': deployment,
  'apps/v1beta1': deployment,
}
export const daemonSetConversions: Conversions = { 'extensions/v1beta1': daemonSet }
export const statefulSetConversions: Conversions = { 'apps/v1beta1': statefulSet }
