/** RuntimeClass: validation of the handler, the pod overhead and the scheduling constraints. */
import { duplicate, type FieldError, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { validateLabels } from '#api/label-rules.ts'
import { nameIsDnsLabel, nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { checkImmutable, each } from '#kinds/all-kinds/checks.ts'
import { checkPlainMetadata, checkPlainMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { goToleration } from '#kinds/pod-template/go-values.ts'
import { type PodRules, podRules } from '#kinds/pod-template/pod-rules.ts'
import { checkResources } from '#kinds/pod-template/resources.ts'
import { checkTolerations } from '#kinds/pod-template/scheduling.ts'
import { dropUnlessUsed } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

function check(object: KubeObject, context: Context): FieldError[] {
  const handler: string = object.handler ?? ''
  const { overhead, scheduling } = object
  const errors = checkHandler(handler, context.release)
  if (overhead) {
    const limits = { limits: overhead.podFixed }
    errors.push(...checkResources(limits, FieldPath.of('overhead'), podRules(context)))
  }
  if (scheduling) {
    errors.push(...checkScheduling(scheduling, FieldPath.of('scheduling'), podRules(context)))
  }
  return errors
}

const handlerIsRequired = change('a RuntimeClass without a handler lacks a required value', {
  since: 36,
})
const namesTolerations = change('errors of tolerations of a RuntimeClass name the field once', {
  since: 35,
})

function checkHandler(handler: string, release: number): FieldError[] {
  const path = FieldPath.of('handler')
  if (handler === '' && releaseOf(release).has(handlerIsRequired)) return [required(path)]
  const problems = each(path, handler, nameIsDnsLabel(handler, false))
  return problems.map((error) => ({ ...error, origin: 'format=k8s-short-name' }))
}

function checkScheduling(scheduling: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const tolerations: Loose[] = scheduling.tolerations ?? []
  const at = path.child('tolerations')
  const seen = new Set<string>()
  const twice = tolerations.flatMap((toleration, i) => {
    const { key = '', operator = '', value = '', effect = '' } = toleration
    const identity = JSON.stringify([key, operator, value, effect])
    if (seen.has(identity)) return [duplicate(at.index(i), goToleration(toleration))]
    seen.add(identity)
    return []
  })
  return [
    ...validateLabels(scheduling.nodeSelector, path.child('nodeSelector')),
    ...checkTolerations(
      tolerations,
      rules.has(namesTolerations) ? at : at.child('tolerations'),
      rules,
    ),
    ...twice,
  ]
}

export const runtimeClassBehaviour: Behaviour = {
  createOnUpdate: true,
  unconditionalUpdate: false,
  prepareForCreate: (object, context) =>
    dropUnlessUsed(object, 'overhead', context.feature('PodOverhead'), false),
  validateCreate: check,
  validateUpdate: (next, old, context) => [
    ...checkPlainMetadata(next, false, nameIsDnsSubdomain),
    ...check(next, context),
    ...checkPlainMetadataUpdate(next, old),
    ...checkImmutable(next.handler ?? '', old.handler ?? '', FieldPath.of('handler')).map(
      (error) => ({
        ...error,
        origin: 'immutable',
      }),
    ),
  ],
}
