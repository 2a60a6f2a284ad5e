/** StatefulSet: pods with names and volumes of their own, started and ended in order. */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goPointer, goQuote, goStruct } from '#api/go-syntax.ts'
import { validateLabels } from '#api/label-rules.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { validateAnnotations, validateNonnegative } from '#api/object-meta-rules.ts'
import { samePart } from '#kinds/all-kinds/checks.ts'
import {
  checkFinalizerNames,
  checkMetadata,
  checkMetadataUpdate,
} from '#kinds/all-kinds/metadata.ts'
import { checkPodAnnotations } from '#kinds/pod-template/pod-annotations.ts'
import { podRules, type PodRules } from '#kinds/pod-template/pod-rules.ts'
import { templateWarnings } from '#kinds/pod-template/pod-warnings.ts'
import { prepareTemplate } from '#kinds/pod-template/prepare-template.ts'
import { keepSpec, keepStatus, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context, SubresourceBehaviour } from '#kinds/kind.ts'
import { checkRunsForever } from '#kinds/workloads/replicated-template.ts'
import {
  checkSelectedUnlessEmpty,
  checkSelector,
  goLabelSelector,
  trySelector,
} from '#kinds/workloads/selectors.ts'
import { checkCollisions, checkCounts, checkParts } from '#kinds/workloads/status-numbers.ts'

const namesMinReadySeconds = change(
  'errors of a StatefulSet name minReadySeconds among the mutable fields',
  { since: 22 },
)

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')
const templatePath = specPath.child('template')
const minReadyGate = 'StatefulSetMinReadySeconds'

function checkSpec(spec: Loose, path: FieldPath, rules: PodRules, context: Context): FieldError[] {
  const errors = [
    ...checkPodManagement(spec, path),
    ...checkStrategy(spec, path.child('updateStrategy')),
  ]
  errors.push(...validateNonnegative(spec.replicas ?? 0, path.child('replicas')))
  if (context.feature(minReadyGate)) {
    errors.push(...validateNonnegative(spec.minReadySeconds ?? 0, path.child('minReadySeconds')))
  }
  errors.push(...checkSelector(spec.selector, 'statefulset', path.child('selector')))
  const template: Loose = spec.template ?? {}
  const at = path.child('template')
  const selector = trySelector(spec.selector)
  if (selector === undefined) {
    errors.push(invalid(path.child('selector'), goLabelSelector(spec.selector), ''))
  } else {
    const { labels, annotations } = template.metadata ?? {}
    errors.push(
      ...checkSelectedUnlessEmpty(selector, template, at),
      ...validateLabels(labels, at.child('labels')),
      ...validateAnnotations(annotations, at.child('annotations')),
      ...checkPodAnnotations(annotations, template.spec ?? {}, at.child('annotations'), rules),
    )
  }
  errors.push(...checkRunsForever(template.spec ?? {}, 'StatefulSet', at.child('spec')))
  return errors
}

function checkPodManagement(spec: Loose, path: FieldPath): FieldError[] {
  const policy: string = spec.podManagementPolicy ?? ''
  const at = path.child('podManagementPolicy')
  if (policy === '') return [required(at)]
  if (policy === 'OrderedReady' || policy === 'Parallel') return []
  return [invalid(at, policy, "must be 'OrderedReady' or 'Parallel'")]
}

function checkStrategy(spec: Loose, path: FieldPath): FieldError[] {
  const { type = '', rollingUpdate }: Loose = spec.updateStrategy ?? {}
  const at = path.child('rollingUpdate')
  if (type === '') return [required(path)]
  if (type === 'OnDelete') {
    if (!rollingUpdate) return []
    const shown = goStruct('apps.RollingUpdateStatefulSetStrategy', [
      ['Partition', String(rollingUpdate.partition ?? 0)],
    ])
    return [invalid(at, asGo(shown), "only allowed for updateStrategy 'RollingUpdate'")]
  }
  if (type === 'RollingUpdate') {
    return validateNonnegative(rollingUpdate?.partition ?? 0, at.child('partition'))
  }
  const shown = goStruct('apps.StatefulSetUpdateStrategy', [
    ['Type', goQuote(type)],
    ['RollingUpdate', goPointer('apps.RollingUpdateStatefulSetStrategy', rollingUpdate)],
  ])
  return [invalid(path, asGo(shown), "must be 'RollingUpdate' or 'OnDelete'")]
}

/** Fields of the specification that may change. */
const mutableFields = ['replicas', 'template', 'updateStrategy']

function checkChange(next: Loose, old: Loose, context: Context): FieldError[] {
  const errors: FieldError[] = []
  const minReady = context.feature(minReadyGate)
  const mutable = minReady ? [...mutableFields, 'minReadySeconds'] : mutableFields
  const names = new Set([...Object.keys(next), ...Object.keys(old)])
  const changed = [...names].some(
    (name) => !mutable.includes(name) && !samePart(next[name], old[name]),
  )
  if (changed) {
    const detail = `updates to statefulset spec for fields other than ${allowedWords(minReady, context)} are forbidden`
    errors.push(forbidden(specPath, detail))
  }
  errors.push(...validateNonnegative(next.replicas ?? 0, specPath.child('replicas')))
  if (minReady) {
    errors.push(
      ...validateNonnegative(next.minReadySeconds ?? 0, specPath.child('minReadySeconds')),
    )
  }
  return errors
}

function allowedWords(minReady: boolean, context: Context): string {
  if (minReady) return "'replicas', 'template', 'minReadySeconds' and 'updateStrategy'"
  if (releaseOf(context.release).has(namesMinReadySeconds))
    return "'replicas', 'template', 'updateStrategy' and 'minReadySeconds'"
  return "'replicas', 'template', and 'updateStrategy'"
}

const statusCounts = [
  'replicas',
  'readyReplicas',
  'currentReplicas',
  'updatedReplicas',
  'observedGeneration',
  'collisionCount',
]

const status: SubresourceBehaviour = {
  prepareForUpdate: keepSpec,
  validateUpdate(next, old, context) {
    const after: Loose = next.status ?? {}
    const minReady = context.feature(minReadyGate)
    const counts = minReady
      ? [...statusCounts.slice(0, 4), 'availableReplicas', ...statusCounts.slice(4)]
      : statusCounts
    const parts = ['readyReplicas', 'currentReplicas', 'updatedReplicas']
    return [
      ...checkCounts(after, counts, statusPath),
      ...checkParts(after, minReady ? [...parts, 'availableReplicas'] : parts, statusPath),
      ...checkMetadataUpdate(next, old),
      ...checkCollisions(after, old.status ?? {}, statusPath),
    ]
  },
  resetFields: [['spec']],
}

function dropDisabledFields(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  if (context.feature(minReadyGate)) return
  if (old === undefined || (old.spec.minReadySeconds ?? 0) < 0) delete next.spec.minReadySeconds
}

const rulesOf = (next: KubeObject, old: KubeObject | undefined, context: Context): PodRules =>
  podRules(context, next.spec?.template, old?.spec?.template)

export const statefulSetBehaviour: Behaviour = {
  prepareForCreate(object, context) {
    object.status = { replicas: 0 }
    object.metadata.generation = 1
    dropDisabledFields(object, undefined, context)
    prepareTemplate(object.spec.template, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    dropDisabledFields(next, old, context)
    prepareTemplate(next.spec.template, old.spec.template, context)
    raiseGeneration(next, old, ['spec'])
  },
  validateCreate: (object, context) => [
    ...checkFinalizerNames(object),
    ...checkSpec(object.spec, specPath, rulesOf(object, undefined, context), context),
  ],
  validateUpdate: (next, old, context) => [
    ...checkMetadata(next, true, nameIsDnsSubdomain),
    ...checkSpec(next.spec, specPath, rulesOf(next, old, context), context),
    ...checkMetadataUpdate(next, old),
    ...checkChange(next.spec, old.spec, context),
  ],
  ...templateWarnings(templatePath, ({ spec }) => spec.template),
  resetFields: [['status']],
  subresources: { status },
}
