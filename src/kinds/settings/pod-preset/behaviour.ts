/**
 * PodPreset, up to 1.19: settings that are added to new pods with certain labels. Its spec never
 * changes.
 */
import { type FieldError, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { validateLabelSelector } from '#api/label-rules.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { keepSpec } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { checkEnvironment, checkEnvironmentSources } from '#kinds/pod-template/environment.ts'
import { checkMounts } from '#kinds/pod-template/mounts.ts'
import { podRules } from '#kinds/pod-template/pod-rules.ts'
import { checkVolumes } from '#kinds/pod-template/volumes.ts'

const path = FieldPath.of('spec')
const given = ['env', 'envFrom', 'volumeMounts', 'volumes']

function check({ spec = {} }: KubeObject, context: Context): FieldError[] {
  const rules = podRules(context)
  const errors = validateLabelSelector(spec.selector ?? {}, path.child('selector'))
  if (!given.some((field) => spec[field] !== undefined || wasWrittenEmpty(spec, field))) {
    const at = path.child('volumes', 'env', 'envFrom', 'volumeMounts')
    errors.push(required(at, 'must specify at least one'))
  }
  const { volumes, errors: problems } = checkVolumes(
    spec.volumes,
    undefined,
    path.child('volumes'),
    rules,
  )
  return [
    ...errors,
    ...problems,
    ...checkEnvironment(spec.env, path.child('env'), rules),
    ...checkEnvironmentSources(spec.envFrom, path.child('envFrom'), rules),
    ...checkMounts({ volumeMounts: spec.volumeMounts }, volumes, path.child('volumeMounts')),
  ]
}

export const podPresetBehaviour: Behaviour = {
  prepareForCreate(object) {
    object.metadata.generation = 1
  },
  prepareForUpdate: keepSpec,
  validateCreate: check,
  validateUpdate: (next, old, context) => [
    ...checkMetadata(next, true, nameIsDnsSubdomain),
    ...check(next, context),
    ...checkMetadataUpdate(next, old),
    ...check(next, context),
  ],
}
