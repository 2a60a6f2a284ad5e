/**
 * Metadata checks of a kind's own rules: finalizer names on create, and repeated checks on update.
 * The verbs have already run the checks of every update. kube-apiserver reports an error once for
 * each check that finds it, so the repetition is part of the response.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { NameRule } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { validateObjectMeta, validateObjectMetaUpdate } from '#api/object-meta-rules.ts'

const path = FieldPath.of('metadata')
const standardFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion']

/** A finalizer without a domain must be one of Kubernetes' own. */
export function checkFinalizerName(name: string, at: FieldPath): FieldError[] {
  if (name.includes('/') || standardFinalizers.includes(name)) return []
  const detail = 'name is neither a standard finalizer name nor is it fully qualified'
  return [invalid(at, name, detail)]
}

export const checkFinalizerNames = (object: KubeObject): FieldError[] =>
  (object.metadata.finalizers ?? []).flatMap((name, i) =>
    checkFinalizerName(name, path.child('finalizers').index(i)),
  )

/** The whole of metadata, as on create. */
export const checkMetadata = (
  object: KubeObject,
  namespaced: boolean,
  nameRule: NameRule,
): FieldError[] => [
  ...checkPlainMetadata(object, namespaced, nameRule),
  ...checkFinalizerNames(object),
]

/** Validates an update of metadata, including finalizer names. */
export const checkMetadataUpdate = (next: KubeObject, old: KubeObject): FieldError[] => [
  ...checkPlainMetadataUpdate(next, old),
  ...checkFinalizerNames(next),
]

/** For the few kinds whose finalizers may be any qualified name. */
export const checkPlainMetadata = (
  object: KubeObject,
  namespaced: boolean,
  nameRule: NameRule,
): FieldError[] => validateObjectMeta(object.metadata, { namespaced, nameRule }, path)

export const checkPlainMetadataUpdate = (next: KubeObject, old: KubeObject): FieldError[] =>
  validateObjectMetaUpdate(next.metadata, old.metadata, path)
