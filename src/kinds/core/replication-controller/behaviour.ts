/** ReplicationController: a number of pods of one template, selected by plain labels. */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goStringMap } from '#api/go-syntax.ts'
import { validateLabels } from '#api/label-rules.ts'
import { everything, selectorOfMap } from '#api/label-selector.ts'
import { type NameRule, nameIsDnsSubdomain } from '#api/names.ts'
import { validateNonnegative } from '#api/object-meta-rules.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { podWarnings } from '#kinds/pod-template/pod-warnings.ts'
import { type SpecCheck, replicas, status } from '#kinds/workloads/replicas.ts'
import { podNameWarnings } from '#kinds/workloads/pod-name-warnings.ts'
import { checkReplicatedTemplate } from '#kinds/workloads/replicated-template.ts'

const specPath = FieldPath.of('spec')

const anyLabelSelects = change(
  'a ReplicationController with an invalid label in its selector is compared with its template',
  { since: 19 },
)

const controllersAreCheckedOnce = change(
  'updates of replication controllers check the specification once',
  { since: 35 },
)
const templatesHavePaths = change(
  'warnings about new replication controllers name the path of the template in full',
  { since: 27 },
)

const checkControllerSpec: SpecCheck = (spec, path, rules, old) => {
  const { replicas = 0, minReadySeconds = 0, template } = spec
  // In older releases, an invalid label makes the selector match nothing.
  const isLost =
    !releaseOf(rules.release).has(anyLabelSelects) && validateLabels(spec.selector, path).length > 0
  const selector = isLost ? everything : selectorOfMap(spec.selector)
  const at = path.child('template')
  return [
    ...validateNonnegative(minReadySeconds, path.child('minReadySeconds')),
    ...(selector.length === 0 ? [required(path.child('selector'))] : []),
    ...validateNonnegative(replicas, path.child('replicas')),
    ...checkReplicatedTemplate(
      template,
      selector,
      replicas,
      'ReplicationController',
      at,
      rules,
      old?.template,
    ),
  ]
}

const templatePath = specPath.child('template')

const nonConvertible = 'non-convertible.kubernetes.io'

/** Annotations that hold fields of other versions are immutable. */
function checkNonConvertible(next: KubeObject, old: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const annotations: Record<string, string> = old.metadata.annotations ?? {}
  for (const key of Object.keys(annotations)) {
    const parts = key.split('/')
    if (!key.startsWith(nonConvertible) || parts.length !== 2) continue
    const field = parts[1] as string
    if (!field.includes('selector')) {
      const message = `Not found: ${JSON.stringify(annotations[key])}: unknown non-convertible field`
      errors.push({ type: 'FieldValueNotFound', field, message })
    } else if (!semanticEqual(next.spec.selector, old.spec.selector)) {
      const shown = asGo(goStringMap(next.spec.selector))
      errors.push(
        invalid(specPath.child('selector'), shown, 'cannot update non-convertible selector'),
      )
    }
  }
  return errors
}

/**
 * A controller without labels gets those of its pod template when read, even if a client removed
 * them.
 */
function labelLikeTemplate({ metadata, spec }: KubeObject): void {
  if (Object.keys(metadata.labels ?? {}).length > 0) return
  const labels: Record<string, string> | undefined = spec.template?.metadata?.labels
  if (labels) metadata.labels = { ...labels }
}

const namesAreDeclared = change('only the name of a replication controller is checked, no prefix', {
  since: 37,
})
const anyName: NameRule = () => []

export const replicationControllerBehaviour: Behaviour = {
  ...replicas(checkControllerSpec, controllersAreCheckedOnce, checkNonConvertible),
  // A declarative rule validates the name, but no rule validates the prefix of a generateName.
  nameRuleOf: (_object, { release, feature }) =>
    releaseOf(release).has(namesAreDeclared) && feature('DeclarativeValidationBeta')
      ? anyName
      : nameIsDnsSubdomain,
  warningsOnCreate(object, context) {
    const hasPath = releaseOf(context.release).has(templatesHavePaths)
    const path = hasPath ? templatePath : FieldPath.of('template')
    return [
      ...podNameWarnings(object, context),
      ...podWarnings(object.spec.template, path, context),
    ]
  },
  warningsOnUpdate: (next, old, context) =>
    next.metadata.generation === old.metadata.generation
      ? []
      : podWarnings(old.spec.template, templatePath, context),
  subresources: {
    status: {
      ...status,
      prepareForUpdate(next, old, context) {
        status.prepareForUpdate?.(next, old, context)
        labelLikeTemplate(next)
      },
    },
  },
  selectableFields: (object) => ({ 'status.replicas': String(object.status?.replicas ?? 0) }),
}
