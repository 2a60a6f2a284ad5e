/** PodTemplate: a pod template as a separate object. */
import { change, releaseOf } from '#api/releases/change.ts'
import type { FieldError } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { checkFinalizerNames, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { podRules } from '#kinds/pod-template/pod-rules.ts'
import { checkPodTemplate } from '#kinds/pod-template/pod-spec.ts'
import { templateWarnings } from '#kinds/pod-template/pod-warnings.ts'
import { prepareTemplate } from '#kinds/pod-template/prepare-template.ts'

const path = FieldPath.of('template')
const templatesHaveGeneration = change('pod templates have a generation', { since: 22 })

function check(next: KubeObject, old: KubeObject | undefined, context: Context): FieldError[] {
  return checkPodTemplate(next.template, path, podRules(context, next.template, old?.template))
}

export const podTemplateBehaviour: Behaviour = {
  prepareForCreate(template, context) {
    if (releaseOf(context.release).has(templatesHaveGeneration)) template.metadata.generation = 1
    prepareTemplate(template.template, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    prepareTemplate(next.template, old.template, context)
    if (releaseOf(context.release).has(templatesHaveGeneration))
      raiseGeneration(next, old, ['template'])
  },
  validateCreate: (template, context) => [
    ...checkFinalizerNames(template),
    ...check(template, undefined, context),
  ],
  validateUpdate: (next, old, context) => [
    ...checkMetadataUpdate(next, old),
    ...check(next, old, context),
  ],
  ...templateWarnings(path, ({ template }) => template),
}
