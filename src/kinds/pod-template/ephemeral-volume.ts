/** Ephemeral volumes: a claim is made from a template and deleted with the pod. */
import { type FieldError, forbidden, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { validateLabels } from '#api/label-rules.ts'
import type { Loose } from '#api/object-meta.ts'
import { validateAnnotations } from '#api/object-meta-rules.ts'
import { change } from '#api/releases/change.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { checkClaimSpec } from '#kinds/core/persistent-volume-claim/claim-spec.ts'
import type { PodRules } from './pod-rules.ts'

export function checkEphemeralVolume(
  source: Loose,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const at = path.child('volumeClaimTemplate')
  const template = source.volumeClaimTemplate
  if (!template) return [required(at)]
  const detail = rules.has(saysCannotBeSet) ? 'cannot be set' : notForEphemeral
  return [
    ...checkTemplateMetadata(template.metadata ?? {}, at.child('metadata'), detail),
    ...checkClaimSpec(template.spec ?? {}, at.child('spec'), rules.once, rules.claims),
  ]
}

/** Metadata a template may not have, with kube-apiserver's spelling of the path. */
const forbiddenMetadata: readonly (readonly [string, string])[] = [
  ['name', 'name'],
  ['generateName', 'generateName'],
  ['namespace', 'namespace'],
  ['selfLink', 'selfLink'],
  ['uid', 'uID'],
  ['resourceVersion', 'resourceVersion'],
  ['generation', 'generation'],
  ['creationTimestamp', 'creationTimestamp'],
  ['deletionTimestamp', 'deletionTimestamp'],
  ['deletionGracePeriodSeconds', 'deletionGracePeriodSeconds'],
  ['ownerReferences', 'ownerReferences'],
  ['finalizers', 'finalizers'],
  ['clusterName', 'clusterName'],
  ['managedFields', 'managedFields'],
]

const saysCannotBeSet = change('errors of metadata of claim templates say: cannot be set', {
  since: 26,
})
const notForEphemeral = 'cannot be set for an ephemeral volume'

/** Labels and annotations are all that the metadata of a template can have. */
export function checkTemplateMetadata(meta: Loose, path: FieldPath, detail: string): FieldError[] {
  const errors = [
    ...validateAnnotations(meta.annotations, path.child('annotations')),
    ...validateLabels(meta.labels, path.child('labels')),
  ]
  for (const [field, shown] of forbiddenMetadata) {
    if (!isSet(meta, field)) continue
    errors.push(forbidden(path.child(shown), detail))
  }
  return errors
}

/**
 * Whether a metadata field is set. An optional number is set even if it is 0, and a list even if it
 * is empty. Other fields are unset if they are zero.
 */
const isSet = (meta: Loose, field: string): boolean =>
  Boolean(meta[field]) ||
  (field === 'deletionGracePeriodSeconds' && meta[field] === 0) ||
  wasWrittenEmpty(meta, field)
