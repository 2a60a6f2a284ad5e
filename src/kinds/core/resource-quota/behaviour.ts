/** ResourceQuota: validation of resource names, quantities and scopes. */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, invalid, problemsMax, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goList, goQuote, goStrings, goStruct, type GoText } from '#api/go-syntax.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { listAsWritten, resourceVersionRequired, sortedKeys } from '#kinds/all-kinds/checks.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import {
  checkQuotaResourceName,
  checkResourceQuantity,
  isStandardQuotaResource,
} from '#kinds/all-kinds/resource-names.ts'

const affinityScope = 'CrossNamespacePodAffinity'
const volumesScope = 'VolumeAttributesClass'
const volumeResources = ['persistentvolumeclaims', 'requests.storage']
const standardScopes = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
]
const podCompute = [
  'cpu',
  'memory',
  'limits.cpu',
  'limits.memory',
  'requests.cpu',
  'requests.memory',
]
const conflicts = [
  ['BestEffort', 'NotBestEffort'],
  ['NotTerminating', 'Terminating'],
]

const scopesAffinity = change('resource quotas have the scope CrossNamespacePodAffinity', {
  since: 21,
})

const scopesVolumes = change('resource quotas have the scope VolumeAttributesClass', { since: 33 })

/** How many of the resources a scope cannot limit. */
function misfitsOf(scope: string, limited: readonly string[], release: number): number {
  const isAffinity = scope === affinityScope && releaseOf(release).has(scopesAffinity)
  const isOfVolumes = scope === volumesScope && releaseOf(release).has(scopesVolumes)
  if (!standardScopes.includes(scope) && !isAffinity && !isOfVolumes) return 0
  const fits = (resource: string) =>
    isOfVolumes
      ? volumeResources.includes(resource)
      : resource === 'pods' || (scope !== 'BestEffort' && podCompute.includes(resource))
  return limited.filter((resource) => !fits(resource)).length
}

/** The same check, but each scope is checked once. */
function misfits(limited: readonly string[], release: number): (scope: string) => number {
  const known = new Map<string, number>()
  return (scope) => {
    const count = known.get(scope) ?? misfitsOf(scope, limited, release)
    known.set(scope, count)
    return count
  }
}

/** Adds an error `count` times, up to the limit of errors. */
function addTimes(errors: FieldError[], problem: FieldError, times: number): void {
  for (let i = 0; i < times && errors.length < problemsMax; i++) errors.push(problem)
}

function checkAmounts(list: Loose | undefined, path: FieldPath): FieldError[] {
  return sortedKeys(list).flatMap((name) => [
    ...checkQuotaResourceName(name, path.key(name)),
    ...checkResourceQuantity(list as Loose, name, path.key(name)),
  ])
}

const checkStatus = (quota: KubeObject): FieldError[] => [
  ...checkAmounts(quota.status?.hard, FieldPath.of('status', 'hard')),
  ...checkAmounts(quota.status?.used, FieldPath.of('status', 'used')),
]

function checkSpec(spec: Loose, allowAffinity: boolean, release: number): FieldError[] {
  const path = FieldPath.of('spec')
  const known = (scope: string) =>
    standardScopes.includes(scope) ||
    (allowAffinity && scope === affinityScope) ||
    (scope === volumesScope && releaseOf(release).has(scopesVolumes))
  const limited = sortedKeys(spec.hard).filter(isStandardQuotaResource)
  return [
    ...checkAmounts(spec.hard, path.child('hard')),
    ...checkScopes(spec, limited, known, path.child('scopes'), release),
    ...checkScopeSelector(
      spec,
      limited,
      known,
      path.child('scopeSelector', 'matchExpressions'),
      release,
    ),
  ]
}

const goScopes = (spec: Loose | undefined) =>
  asGo(goStrings(listAsWritten<string>(spec, 'scopes'), 'core.ResourceQuotaScope'))

function checkConflicts(used: string[], shown: unknown, path: FieldPath): FieldError[] {
  return conflicts
    .filter((pair) => pair.every((scope) => used.includes(scope)))
    .map(() => invalid(path, shown, 'conflicting scopes'))
}

function checkScopes(
  spec: Loose,
  limited: string[],
  known: (scope: string) => boolean,
  path: FieldPath,
  release: number,
): FieldError[] {
  const scopes: string[] = spec.scopes ?? []
  if (scopes.length === 0) return []
  const shown = goScopes(spec)
  const errors: FieldError[] = []
  const misfitsOf = misfits(limited, release)
  const misfit = invalid(path, shown, 'unsupported scope applied to resource')
  for (const scope of scopes) {
    if (!known(scope)) errors.push(invalid(path, shown, 'unsupported scope'))
    addTimes(errors, misfit, misfitsOf(scope))
  }
  return [...errors, ...checkConflicts(scopes, shown, path)]
}

const goRequirement = (requirement: Loose): GoText =>
  goStruct('core.ScopedResourceSelectorRequirement', [
    ['ScopeName', goQuote(requirement.scopeName ?? '')],
    ['Operator', goQuote(requirement.operator ?? '')],
    ['Values', goStrings(listAsWritten<string>(requirement, 'values'))],
  ])

function checkScopeSelector(
  spec: Loose,
  limited: string[],
  known: (scope: string) => boolean,
  path: FieldPath,
  release: number,
): FieldError[] {
  if (!spec.scopeSelector) return []
  const requirements: Loose[] = spec.scopeSelector.matchExpressions ?? []
  const list = goList(
    'core.ScopedResourceSelectorRequirement',
    spec.scopeSelector.matchExpressions && requirements.map(goRequirement),
  )
  const shown = asGo(goStruct('core.ScopeSelector', [['MatchExpressions', list]]))
  const errors: FieldError[] = []
  const misfitsOf = misfits(limited, release)
  const misfit = invalid(path, shown, 'unsupported scope applied to resource')
  for (const { scopeName = '', operator = '', values } of requirements) {
    if (!known(scopeName)) {
      errors.push(invalid(path.child('scopeName'), scopeName, 'unsupported scope'))
    }
    addTimes(errors, misfit, misfitsOf(scopeName))
    errors.push(...checkOperator(scopeName, operator, values, path, release))
  }
  const used = requirements.map((requirement) => requirement.scopeName)
  return [...errors, ...checkConflicts(used, goScopes(spec), path)]
}

function checkOperator(
  scope: string,
  operator: string,
  values: string[] | undefined,
  path: FieldPath,
  release: number,
): FieldError[] {
  const errors: FieldError[] = []
  const count = (values ?? []).length
  const onlyExists = [
    ...standardScopes.slice(0, 4),
    ...(releaseOf(release).has(scopesAffinity) ? [affinityScope] : []),
  ]
  if (onlyExists.includes(scope) && operator !== 'Exists') {
    const detail =
      "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
    errors.push(invalid(path.child('operator'), operator, detail))
  }
  if (operator === 'In' || operator === 'NotIn') {
    if (count > 0) return errors
    const detail =
      "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
    errors.push(required(path.child('values'), detail))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count === 0) return errors
    const detail =
      "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
    errors.push(invalid(path.child('values'), asGo(goStrings(values)), detail))
  } else {
    errors.push(invalid(path.child('operator'), operator, 'not a valid selector operator'))
  }
  return errors
}

function usesAffinityScope(quota: KubeObject | undefined): boolean {
  const expressions: Loose[] = quota?.spec?.scopeSelector?.matchExpressions ?? []
  return (
    (quota?.spec?.scopes ?? []).includes(affinityScope) ||
    expressions.some((requirement) => requirement.scopeName === affinityScope)
  )
}

const allowsAffinity = (context: Context, old?: KubeObject): boolean =>
  context.feature('PodAffinityNamespaceSelector') || usesAffinityScope(old)

function checkSameScopes(next: KubeObject, old: KubeObject): FieldError[] {
  const [now, then] = [new Set<string>(next.spec?.scopes), new Set<string>(old.spec?.scopes)]
  if (now.size === then.size && [...now].every((scope) => then.has(scope))) return []
  return [invalid('spec.scopes', goScopes(next.spec), immutableMessage)]
}

const checksUpdatesTwice = change('an updated ResourceQuota is validated like a new one too', {
  until: 20,
})

const checkWhole = (quota: KubeObject, old: KubeObject, context: Context): FieldError[] => [
  ...checkMetadata(quota, true, nameIsDnsSubdomain),
  ...checkSpec(quota.spec ?? {}, allowsAffinity(context, old), context.release),
  ...checkStatus(quota),
]

export const resourceQuotaBehaviour: Behaviour = {
  resetFields: [['status']],
  prepareForCreate(object) {
    object.status = {}
  },
  prepareForUpdate: keepStatus,
  validateCreate: (object, context) => [
    ...checkSpec(object.spec ?? {}, allowsAffinity(context), context.release),
    ...checkStatus(object),
  ],
  validateUpdate: (next, old, context) => [
    ...(releaseOf(context.release).has(checksUpdatesTwice) ? checkWhole(next, old, context) : []),
    ...checkMetadataUpdate(next, old),
    ...checkSpec(next.spec ?? {}, allowsAffinity(context, old), context.release),
    ...checkSameScopes(next, old),
  ],
  subresources: {
    status: {
      resetFields: [['spec']],
      prepareForUpdate: keepSpec,
      validateUpdate: (next, old) => [
        ...checkMetadataUpdate(next, old),
        ...resourceVersionRequired(next.metadata.resourceVersion),
        ...checkStatus(next),
      ],
    },
  },
}
