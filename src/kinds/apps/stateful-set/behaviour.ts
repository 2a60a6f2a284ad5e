/** StatefulSet: strategy and validation. */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, type GoPart, goPointer, goQuote, goStruct, type GoText } from '#api/go-syntax.ts'
import { validateLabels } from '#api/label-rules.ts'
import { nameIsDnsLabel, nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import {
  immutableMessage,
  validateAnnotations,
  validateImmutable,
  validateNonnegative,
} from '#api/object-meta-rules.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { checkDns1123Label, listAsWritten, samePart } from '#kinds/all-kinds/checks.ts'
import {
  checkAtMost100Percent,
  checkIntOrPercent,
  type IntOrString,
} from '#kinds/all-kinds/int-or-percent.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import {
  checkFinalizerNames,
  checkMetadata,
  checkMetadataUpdate,
} from '#kinds/all-kinds/metadata.ts'
import { dropUnlessUsed, keepSpec, keepStatus, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import { checkClaimSpec } from '#kinds/core/persistent-volume-claim/claim-spec.ts'
import type { Behaviour, Context, SubresourceBehaviour } from '#kinds/kind.ts'
import { checkPodAnnotations } from '#kinds/pod-template/pod-annotations.ts'
import { podRules, type PodRules } from '#kinds/pod-template/pod-rules.ts'
import { checkPodTemplate } from '#kinds/pod-template/pod-spec.ts'
import { fractionWarnings, templateWarnings } from '#kinds/pod-template/pod-warnings.ts'
import { prepareTemplate } from '#kinds/pod-template/prepare-template.ts'
import { checkRunsForever } from '#kinds/workloads/replicated-template.ts'
import { amountOf, shownAmount } from '#kinds/workloads/rolling-update.ts'
import {
  checkSelectedUnlessEmpty,
  checkSelector,
  checkSelectorUnchanged,
  goLabelSelector,
  trySelector,
} from '#kinds/workloads/selectors.ts'
import { checkCollisions, checkCounts, checkParts } from '#kinds/workloads/status-numbers.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')
const templatePath = specPath.child('template')
const namesMinReadySeconds = change(
  'errors of a StatefulSet name minReadySeconds among the mutable fields',
  { since: 22 },
)

const minReadyGate = 'StatefulSetMinReadySeconds'
const retentionGate = 'StatefulSetAutoDeletePVC'
const unavailableGate = 'MaxUnavailableStatefulSet'
const recreateGate = 'StatefulSetRecreateStrategy'

const retentionIsMutable = change('the retention policy of a stateful set can change', {
  since: 23,
})
const unavailableIsShown = change('messages show maxUnavailable of stateful sets', { since: 24 })
const numbersAreCheckedAgain = change('updates of stateful sets check their numbers twice', {
  until: 24,
})
const availabilityIsWritten = change('stateful sets show how many of their pods are available', {
  since: 23,
})
const ordinalsAreMutable = change('the ordinals of a stateful set can change', { since: 26 })
const claimsAreWarnedOf = change('claim templates with fractions of bytes cause a warning', {
  since: 26,
})
const namesAreLabels = change('names of stateful sets are DNS labels', { since: 27 })
const historyIsMutable = change('the history limit of a stateful set can change', { since: 33 })
const serviceNamesAreLabels = change('service names of stateful sets are DNS labels', {
  since: 33,
})
const templatesAreChecked = change('pod and claim templates of stateful sets are checked', {
  since: 34,
})
const fieldsAreImmutable = change('each immutable field of a stateful set has its own error', {
  since: 37,
})

/** Options of spec validation. Stored objects may break newer rules. */
interface Strictness {
  readonly isNew: boolean
  readonly withTemplate: boolean
  readonly allowRecreate: boolean
}

function checkSpec(
  spec: Loose,
  path: FieldPath,
  rules: PodRules,
  context: Context,
  { isNew, withTemplate, allowRecreate }: Strictness,
): FieldError[] {
  const errors = [
    ...checkPodManagement(spec, path),
    ...checkStrategy(spec, path.child('updateStrategy'), rules, allowRecreate),
    ...checkRetention(spec, path.child('persistentVolumeClaimRetentionPolicy')),
  ]
  if (isNew && rules.has(templatesAreChecked)) errors.push(...checkClaims(spec, path, rules))
  errors.push(...validateNonnegative(spec.replicas ?? 0, path.child('replicas')))
  if (context.feature(minReadyGate)) {
    errors.push(...validateNonnegative(spec.minReadySeconds ?? 0, path.child('minReadySeconds')))
  }
  if (spec.ordinals) {
    errors.push(...validateNonnegative(spec.ordinals.start ?? 0, path.child('ordinals.start')))
  }
  if (isNew && spec.serviceName && rules.has(serviceNamesAreLabels)) {
    errors.push(...checkDns1123Label(spec.serviceName, path.child('serviceName')))
  }
  errors.push(...checkSelector(spec.selector, 'statefulset', path.child('selector'), rules))
  const template: Loose = spec.template ?? {}
  const at = path.child('template')
  const selector = trySelector(spec.selector)
  if (selector === undefined) {
    errors.push(invalid(path.child('selector'), goLabelSelector(spec.selector), ''))
  } else {
    const { labels, annotations } = template.metadata ?? {}
    errors.push(...checkSelectedUnlessEmpty(selector, template, at))
    if (withTemplate && rules.has(templatesAreChecked)) {
      errors.push(...checkPodTemplate(templateOfPods(spec), at, rules))
    }
    errors.push(
      ...validateLabels(labels, at.child('labels')),
      ...validateAnnotations(annotations, at.child('annotations')),
      ...checkPodAnnotations(annotations, template.spec ?? {}, at.child('annotations'), rules),
    )
  }
  errors.push(...checkRunsForever(template.spec ?? {}, 'StatefulSet', at.child('spec')))
  return errors
}

/**
 * The pod template as the controller will complete it, with generated host names and a volume for
 * each claim template.
 */
function templateOfPods({ template, volumeClaimTemplates }: Loose): Loose {
  const { spec = {} }: Loose = template ?? {}
  const { hostname: _hostname, subdomain: _subdomain, ...kept } = spec
  const claims = new Set<string>(
    ((volumeClaimTemplates ?? []) as Loose[]).map(({ metadata }) => metadata?.name ?? ''),
  )
  if (claims.size === 0) return { ...template, spec: kept }
  const others = ((spec.volumes ?? []) as Loose[]).filter(({ name }) => !claims.has(name ?? ''))
  const made = [...claims].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }))
  return { ...template, spec: { ...kept, volumes: [...made, ...others] } }
}

const checkClaims = (spec: Loose, path: FieldPath, rules: PodRules): FieldError[] =>
  ((spec.volumeClaimTemplates ?? []) as Loose[]).flatMap((claim, i) => {
    const at = path.child('volumeClaimTemplates').index(i).child('spec')
    return checkClaimSpec(claim.spec ?? {}, at, rules.once, rules.claims)
  })

const retentionPolicies = ['Retain', 'Delete']

function checkRetention(spec: Loose, path: FieldPath): FieldError[] {
  const policy: Loose | undefined = spec.persistentVolumeClaimRetentionPolicy ?? undefined
  if (policy === undefined) return []
  return ['whenDeleted', 'whenScaled'].flatMap((field) => {
    const value: string = policy[field] ?? ''
    const isKnown = retentionPolicies.includes(value)
    return isKnown ? [] : [notSupported(path.child(field), value, retentionPolicies)]
  })
}

function checkPodManagement(spec: Loose, path: FieldPath): FieldError[] {
  const policy: string = spec.podManagementPolicy ?? ''
  const at = path.child('podManagementPolicy')
  if (policy === '') return [required(at)]
  if (policy === 'OrderedReady' || policy === 'Parallel') return []
  return [invalid(at, policy, "must be 'OrderedReady' or 'Parallel'")]
}

function goRollingUpdate(rollingUpdate: Loose, rules: PodRules): GoText {
  const fields: [string, GoPart][] = [['Partition', String(rollingUpdate.partition ?? 0)]]
  if (rules.has(unavailableIsShown)) {
    const shown = goPointer('intstr.IntOrString', rollingUpdate.maxUnavailable)
    fields.push(['MaxUnavailable', shown])
  }
  return goStruct('apps.RollingUpdateStatefulSetStrategy', fields)
}

function checkStrategy(
  spec: Loose,
  path: FieldPath,
  rules: PodRules,
  allowRecreate: boolean,
): FieldError[] {
  const { type = '', rollingUpdate }: Loose = spec.updateStrategy ?? {}
  const at = path.child('rollingUpdate')
  if (type === '') return [required(path)]
  const shown = rollingUpdate ? goRollingUpdate(rollingUpdate, rules) : undefined
  if (type === 'OnDelete' || (type === 'Recreate' && allowRecreate)) {
    const detail = "only allowed for updateStrategy 'RollingUpdate'"
    return shown === undefined ? [] : [invalid(at, asGo(shown), detail)]
  }
  if (type === 'RollingUpdate') return rollingUpdate ? checkRolling(rollingUpdate, at) : []
  const strategy = goStruct('apps.StatefulSetUpdateStrategy', [
    ['Type', goQuote(type)],
    ['RollingUpdate', goPointer('apps.RollingUpdateStatefulSetStrategy', shown)],
  ])
  const choices = allowRecreate
    ? "'RollingUpdate', 'OnDelete', or 'Recreate'"
    : "'RollingUpdate' or 'OnDelete'"
  return [invalid(path, asGo(strategy), `must be ${choices}`)]
}

function checkRolling(rollingUpdate: Loose, path: FieldPath): FieldError[] {
  const errors = validateNonnegative(rollingUpdate.partition ?? 0, path.child('partition'))
  const unavailable: IntOrString | undefined = rollingUpdate.maxUnavailable ?? undefined
  if (unavailable === undefined) return errors
  const at = path.child('maxUnavailable')
  errors.push(...checkIntOrPercent(unavailable, at))
  if (amountOf(unavailable) === 0) errors.push(invalid(at, shownAmount(unavailable), 'cannot be 0'))
  return [...errors, ...checkAtMost100Percent(unavailable, at)]
}

/** Fields of the specification that may change, as messages list them. */
function mutableFields(rules: PodRules, minReady: boolean): { names: string[]; words: string } {
  if (!rules.has(retentionIsMutable)) {
    const names = ['replicas', 'template', 'updateStrategy']
    if (minReady) return { names: [...names, 'minReadySeconds'], words: minReadyWords }
    return { names, words: rules.has(namesMinReadySeconds) ? minReadyLastWords : oldestWords }
  }
  const names = [
    'replicas',
    ...(rules.has(ordinalsAreMutable) ? ['ordinals'] : []),
    'template',
    'updateStrategy',
    ...(rules.has(historyIsMutable) ? ['revisionHistoryLimit'] : []),
    'persistentVolumeClaimRetentionPolicy',
    ...(minReady ? ['minReadySeconds'] : []),
  ]
  const quoted = names.map((name) => `'${name}'`)
  return { names, words: `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}` }
}

const minReadyWords = "'replicas', 'template', 'minReadySeconds' and 'updateStrategy'"
const minReadyLastWords = "'replicas', 'template', 'updateStrategy' and 'minReadySeconds'"
const oldestWords = "'replicas', 'template', and 'updateStrategy'"

function checkChange(next: Loose, old: Loose, rules: PodRules, context: Context): FieldError[] {
  if (rules.has(fieldsAreImmutable)) return checkImmutableFields(next, old)
  const minReady = context.feature(minReadyGate)
  const mutable = mutableFields(rules, minReady)
  const names = new Set([...Object.keys(next), ...Object.keys(old)])
  const changed = [...names].some(
    (name) => !mutable.names.includes(name) && !samePart(next[name], old[name]),
  )
  const detail = `updates to statefulset spec for fields other than ${mutable.words} are forbidden`
  const errors = changed ? [forbidden(specPath, detail)] : []
  if (!rules.has(numbersAreCheckedAgain)) return errors
  errors.push(...validateNonnegative(next.replicas ?? 0, specPath.child('replicas')))
  if (minReady) {
    const at = specPath.child('minReadySeconds')
    errors.push(...validateNonnegative(next.minReadySeconds ?? 0, at))
  }
  const retentionPath = specPath.child('persistentVolumeClaimRetentionPolicy')
  return [...errors, ...checkRetention(next, retentionPath)]
}

const claimType = 'io.k8s.api.core.v1.PersistentVolumeClaim'

function checkImmutableFields(next: Loose, old: Loose): FieldError[] {
  const errors = checkSelectorUnchanged(next.selector, old.selector, specPath.child('selector'))
  const claims = 'volumeClaimTemplates'
  if (!samePart(next[claims], old[claims])) {
    const shown = internalValue(claimType, listAsWritten<Loose>(next, claims))
    errors.push(invalid(specPath.child(claims), shown, immutableMessage))
  }
  for (const field of ['serviceName', 'podManagementPolicy']) {
    errors.push(...validateImmutable(next[field] ?? '', old[field] ?? '', specPath.child(field)))
  }
  return errors
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
      ...checkParts(
        after,
        minReady ? [...parts, 'availableReplicas'] : parts,
        statusPath,
        'status.readyReplicas',
      ),
      ...checkMetadataUpdate(next, old),
      ...checkCollisions(after, old.status ?? {}, statusPath),
    ]
  },
  resetFields: [['spec']],
}

function dropDisabledFields(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const before: Loose | undefined = old?.spec
  if (!context.feature(minReadyGate)) {
    if (before === undefined || (before.minReadySeconds ?? 0) < 0) delete next.spec.minReadySeconds
  }
  const drop = (holder: Loose | undefined, used: Loose | undefined, gate: string, field: string) =>
    dropUnlessUsed(holder, field, context.feature(gate), (used?.[field] ?? undefined) !== undefined)
  const rollingUpdate = next.spec.updateStrategy?.rollingUpdate ?? undefined
  const oldRollingUpdate = before?.updateStrategy?.rollingUpdate ?? undefined
  drop(rollingUpdate, oldRollingUpdate, unavailableGate, 'maxUnavailable')
  drop(next.spec, before, 'StatefulSetStartOrdinal', 'ordinals')
  drop(next.spec, before, retentionGate, 'persistentVolumeClaimRetentionPolicy')
}

const rulesOf = (next: KubeObject, old: KubeObject | undefined, context: Context): PodRules =>
  podRules(context, next.spec?.template, old?.spec?.template)

function validateCreate(object: KubeObject, context: Context): FieldError[] {
  const allowRecreate = context.feature(recreateGate)
  const strict = { isNew: true, withTemplate: true, allowRecreate }
  return [
    ...checkFinalizerNames(object),
    ...checkSpec(object.spec, specPath, rulesOf(object, undefined, context), context, strict),
  ]
}

function validateUpdate(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const rules = rulesOf(next, old, context)
  const allowRecreate =
    context.feature(recreateGate) || old.spec.updateStrategy?.type === 'Recreate'
  const strict = { isNew: false, withTemplate: true, allowRecreate }
  const isOldGood =
    rules.has(templatesAreChecked) &&
    checkSpec(old.spec, specPath, rules, context, strict).length === 0
  const spec = checkSpec(next.spec, specPath, rules, context, {
    ...strict,
    withTemplate: isOldGood,
  })
  const changed = checkMetadataUpdate(next, old)
  return [
    ...(rules.has(namesAreLabels)
      ? [...changed, ...spec]
      : [...checkMetadata(next, true, nameIsDnsSubdomain), ...spec, ...changed]),
    ...checkChange(next.spec, old.spec, rules, context),
  ]
}

const templates = templateWarnings(templatePath, ({ spec }) => spec.template)

/**
 * `step`: the path element after the index in paths of claims, for which kube-apiserver has two
 * spellings.
 */
function claimWarnings({ spec }: KubeObject, { release }: Context, step?: string): string[] {
  const warnings: string[] = []
  if (releaseOf(release).has(claimsAreWarnedOf)) {
    ;((spec.volumeClaimTemplates ?? []) as Loose[]).forEach((claim, i) => {
      const at = specPath.child('volumeClaimTemplates').index(i)
      const claimPath = step === undefined ? at : at.child(step)
      warnings.push(...fractionWarnings(claim.spec?.resources, claimPath.child('resources')))
    })
  }
  if (releaseOf(release).has(historyIsMutable) && spec.revisionHistoryLimit < 0) {
    warnings.push(
      'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
    )
  }
  return warnings
}

export const statefulSetBehaviour: Behaviour = {
  nameRuleOf: (_object, { release }) =>
    releaseOf(release).has(namesAreLabels) ? nameIsDnsLabel : nameIsDnsSubdomain,
  prepareForCreate(object, context) {
    object.status = { replicas: 0 }
    if (releaseOf(context.release).has(availabilityIsWritten)) object.status.availableReplicas = 0
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
  validateCreate,
  validateUpdate,
  warningsOnCreate: (object, context) => [
    ...templates.warningsOnCreate(object, context),
    ...claimWarnings(object, context),
  ],
  warningsOnUpdate: (next, old, context) => [
    ...templates.warningsOnUpdate(next, old, context),
    ...claimWarnings(next, context, 'Spec'),
  ],
  resetFields: [['status']],
  subresources: { status },
}
