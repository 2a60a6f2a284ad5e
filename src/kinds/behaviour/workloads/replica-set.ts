/** ReplicaSet and ReplicationController: so many pods of one template, one by LabelSelector, one by plain labels. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goStringMap } from '#api/go-syntax.ts'
import { validateLabels } from '#api/label-rules.ts'
import { everything, selectorOfMap } from '#api/label-selector.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { validateNonnegative } from '#api/object-meta-rules.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import {
  checkFinalizerNames,
  checkMetadata,
  checkMetadataUpdate,
} from '#kinds/behaviour/metadata.ts'
import { podRules, type PodRules } from '#kinds/behaviour/pods/pod-rules.ts'
import { podWarnings, templateWarnings } from '#kinds/behaviour/pods/pod-warnings.ts'
import { prepareTemplate } from '#kinds/behaviour/pods/prepare-template.ts'
import { keepSpec, keepStatus, raiseGeneration } from '#kinds/behaviour/strategy.ts'
import { replicaSetColumns, replicationControllerColumns } from '#kinds/columns/workloads.ts'
import type { Behaviour, Context, SubresourceBehaviour } from '#kinds/kind.ts'
import { checkReplicatedTemplate } from './replicated-template.ts'
import { checkSelector, checkSelectorUnchanged, goLabelSelector, trySelector } from './selectors.ts'
import { checkCounts, checkParts } from './status-numbers.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')

type SpecCheck = (spec: Loose, path: FieldPath, rules: PodRules) => FieldError[]

const checkReplicaSetSpec: SpecCheck = (spec, path, rules) => {
  const { replicas = 0, minReadySeconds = 0, template } = spec
  const errors = [
    ...validateNonnegative(replicas, path.child('replicas')),
    ...validateNonnegative(minReadySeconds, path.child('minReadySeconds')),
    ...checkSelector(spec.selector, 'deployment', path.child('selector')),
  ]
  const selector = trySelector(spec.selector)
  if (selector === undefined) {
    const shown = goLabelSelector(spec.selector)
    errors.push(invalid(path.child('selector'), shown, 'invalid label selector'))
    return errors
  }
  const at = path.child('template')
  errors.push(...checkReplicatedTemplate(template, selector, replicas, 'ReplicaSet', at, rules))
  return errors
}

/** The first release that takes labels for a selector as they are. */
const anyLabelSelectsSince = 19

const checkControllerSpec: SpecCheck = (spec, path, rules) => {
  const { replicas = 0, minReadySeconds = 0, template } = spec
  // Before, a label that is none made a selector of nothing.
  const isLost =
    rules.release < anyLabelSelectsSince && validateLabels(spec.selector, path).length > 0
  const selector = isLost ? everything : selectorOfMap(spec.selector)
  const at = path.child('template')
  return [
    ...validateNonnegative(minReadySeconds, path.child('minReadySeconds')),
    ...(selector.length === 0 ? [required(path.child('selector'))] : []),
    ...validateNonnegative(replicas, path.child('replicas')),
    ...checkReplicatedTemplate(template, selector, replicas, 'ReplicationController', at, rules),
  ]
}

const statusCounts = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
]

const status: SubresourceBehaviour = {
  prepareForUpdate: keepSpec,
  validateUpdate(next, old) {
    const after: Loose = next.status ?? {}
    const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']
    return [
      ...checkMetadataUpdate(next, old),
      ...checkCounts(after, statusCounts, statusPath),
      ...checkParts(after, parts, statusPath),
    ]
  },
  resetFields: [['spec']],
}

const rulesOf = (next: KubeObject, old: KubeObject | undefined, context: Context): PodRules =>
  podRules(context, next.spec?.template ?? undefined, old?.spec?.template ?? undefined)

/** What the two have in common. An update runs the whole check twice, as the original does. */
function replicas(
  checkSpec: SpecCheck,
  checkChange: (next: KubeObject, old: KubeObject, context: Context) => FieldError[],
): Behaviour {
  const check = (next: KubeObject, old: KubeObject | undefined, context: Context) =>
    checkSpec(next.spec, specPath, rulesOf(next, old, context))
  return {
    prepareForCreate(object, context) {
      object.status = { replicas: 0 }
      object.metadata.generation = 1
      prepareTemplate(object.spec.template, undefined, context)
    },
    prepareForUpdate(next, old, context) {
      keepStatus(next, old)
      prepareTemplate(next.spec.template, old.spec.template, context)
      raiseGeneration(next, old, ['spec'])
    },
    validateCreate: (object, context) => [
      ...checkFinalizerNames(object),
      ...check(object, undefined, context),
    ],
    validateUpdate: (next, old, context) => [
      ...checkMetadata(next, true, nameIsDnsSubdomain),
      ...check(next, old, context),
      ...checkMetadataUpdate(next, old),
      ...check(next, old, context),
      ...checkChange(next, old, context),
    ],
    resetFields: [['status']],
    subresources: { status },
  }
}

const templatePath = specPath.child('template')

export const replicaSet: Behaviour = {
  ...replicas(checkReplicaSetSpec, (next, old, context) =>
    context.requestApiVersion === 'extensions/v1beta1'
      ? []
      : checkSelectorUnchanged(next.spec.selector, old.spec.selector, specPath.child('selector')),
  ),
  ...templateWarnings(templatePath, ({ spec }) => spec.template),
  columns: replicaSetColumns,
}

const nonConvertible = 'non-convertible.kubernetes.io'

/** What was once read from a version it could not be said in stays as it is. */
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

/** Its warnings name other paths, and on update look at the template before, as the original's do. */
/** One without labels is read with those of its pods, whoever took them from it. */
function labelLikeTemplate({ metadata, spec }: KubeObject): void {
  if (Object.keys(metadata.labels ?? {}).length > 0) return
  const labels: Record<string, string> | undefined = spec.template?.metadata?.labels
  if (labels) metadata.labels = { ...labels }
}

export const replicationController: Behaviour = {
  ...replicas(checkControllerSpec, checkNonConvertible),
  warningsOnCreate: (object, context) =>
    podWarnings(object.spec.template, FieldPath.of('template'), context),
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
  columns: replicationControllerColumns,
}
