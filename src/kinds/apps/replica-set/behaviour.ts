/** ReplicaSet: a number of pods of one template, selected by a LabelSelector. */
import { invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { validateNonnegative } from '#api/object-meta-rules.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { templateWarnings } from '#kinds/pod-template/pod-warnings.ts'
import { dropTerminating, type SpecCheck, replicas, status } from '#kinds/workloads/replicas.ts'
import { podNameWarnings } from '#kinds/workloads/pod-name-warnings.ts'
import {
  checkReplicatedTemplate,
  setsAreCheckedOnce,
} from '#kinds/workloads/replicated-template.ts'
import {
  checkSelector,
  checkSelectorUnchanged,
  goLabelSelector,
  trySelector,
} from '#kinds/workloads/selectors.ts'

const specPath = FieldPath.of('spec')

const checkReplicaSetSpec: SpecCheck = (spec, path, rules, old) => {
  const { replicas = 0, minReadySeconds = 0, template } = spec
  const errors = [
    ...validateNonnegative(replicas, path.child('replicas')),
    ...validateNonnegative(minReadySeconds, path.child('minReadySeconds')),
    ...checkSelector(spec.selector, 'deployment', path.child('selector'), rules),
  ]
  const selector = trySelector(spec.selector)
  if (selector === undefined) {
    const shown = goLabelSelector(spec.selector)
    errors.push(invalid(path.child('selector'), shown, 'invalid label selector'))
    return errors
  }
  const at = path.child('template')
  errors.push(
    ...checkReplicatedTemplate(
      template,
      selector,
      replicas,
      'ReplicaSet',
      at,
      rules,
      old?.template,
    ),
  )
  return errors
}

const templatePath = specPath.child('template')
const warnings = templateWarnings(templatePath, ({ spec }) => spec.template)

export const replicaSetBehaviour: Behaviour = {
  ...replicas(checkReplicaSetSpec, setsAreCheckedOnce, (next, old, context) =>
    context.requestApiVersion === 'extensions/v1beta1'
      ? []
      : checkSelectorUnchanged(next.spec.selector, old.spec.selector, specPath.child('selector')),
  ),
  warningsOnCreate: (object, context) => [
    ...podNameWarnings(object, context),
    ...warnings.warningsOnCreate(object, context),
  ],
  warningsOnUpdate: warnings.warningsOnUpdate,
  subresources: {
    status: {
      ...status,
      prepareForUpdate(next, old, context) {
        status.prepareForUpdate?.(next, old, context)
        dropTerminating(next, old, context)
      },
    },
  },
}
