/**
 * The review kinds of authorization.k8s.io: whether a user may do something (SubjectAccessReview),
 * whether the client may (SelfSubjectAccessReview), and what the client may do
 * (SelfSubjectRulesReview). Objects are in version v1 as sent, without generated metadata. Nothing
 * is stored.
 */
import {
  asGo,
  goJson,
  goPointer,
  goQuote,
  goStringMap,
  goStrings,
  goStruct,
  type GoText,
} from '#api/go-syntax.ts'
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose, ObjectMeta } from '#api/object-meta.ts'
import { inWordsOf } from '#api/release-words.ts'
import { change, type Release } from '#api/releases/change.ts'
import { badRequest, invalidObject } from '#api/status-error.ts'
import { unsetCreationTime } from '#api/unset-creation-time.ts'
import type { Attributes, Authorizer, Decision, RuleResolver } from './authorize.ts'
import { joinErrors } from './error-list.ts'
import { selectorErrors } from './selector-errors.ts'
import { type Selection, type Selectors, selectorsOfReview } from './selectors.ts'
import type { User } from './user.ts'

export type ReviewKind =
  | 'SubjectAccessReview'
  | 'LocalSubjectAccessReview'
  | 'SelfSubjectAccessReview'

/** The release and its feature gates. */
export interface ReviewRules {
  readonly release: Release
  readonly feature: (gate: string) => boolean
}

/** The errors name no kind, because kube-apiserver does not know it at this point. */
const reviewName = { group: 'authorization.k8s.io', kind: '' }

const unionIsOfSpec = change(
  'access reviews with both or neither kind of attributes have an error of the field spec',
  { since: 37 },
)

/** Throws if the review is invalid. `namespace` is the namespace of the request path. */
export function checkReview(
  kind: ReviewKind,
  review: KubeObject,
  namespace: string,
  { release, feature }: ReviewRules,
): void {
  const spec: Loose = review.spec ?? {}
  const errors = [
    ...unionErrors(spec, release.has(unionIsOfSpec)),
    ...(kind === 'SelfSubjectAccessReview' ? [] : subjectErrors(spec)),
    ...(feature('AuthorizeWithSelectors')
      ? selectorErrors(spec.resourceAttributes, FieldPath.of('spec', 'resourceAttributes'))
      : []),
  ]
  const local = kind === 'LocalSubjectAccessReview'
  if (!isEmpty(review.metadata, local))
    errors.push(
      invalid(
        'metadata',
        asGo(showMetadata(review.metadata), metadataJson(review.metadata)),
        local ? 'must be empty except for namespace' : 'must be empty',
      ),
    )
  if (local) errors.push(...localErrors(review))
  if (errors.length > 0) throw invalidObject(reviewName, '', inWordsOf(errors, release.minor))
  if (local && namespace !== (review.metadata.namespace ?? ''))
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`)
}

/** The status of a validated review. */
export async function reviewStatus(
  kind: ReviewKind,
  review: KubeObject,
  caller: User,
  authorizer: Authorizer,
  { feature }: ReviewRules,
): Promise<Loose> {
  const user = kind === 'SelfSubjectAccessReview' ? caller : subjectOf(review.spec)
  const selectors = feature('AuthorizeWithSelectors')
    ? selectorsOfReview(review.spec.resourceAttributes ?? {})
    : undefined
  const attributes = { ...attributesOf(review.spec, user), selectors }
  return statusOf(await authorizer.authorize(attributes), selectors)
}

/** The namespace of a SelfSubjectRulesReview, which is required. */
export function requireNamespace({ spec }: KubeObject): string {
  const namespace: string = spec?.namespace ?? ''
  if (namespace === '') throw badRequest('no namespace on request')
  return namespace
}

/** The response to a SelfSubjectRulesReview. It does not repeat the spec of the request. */
export function rulesReview(
  review: KubeObject,
  caller: User,
  rules: RuleResolver,
  release: number,
): KubeObject {
  const namespace = requireNamespace(review)
  const { resourceRules, nonResourceRules, incomplete, errors } = rules.rulesFor(caller, namespace)
  return {
    kind: 'SelfSubjectRulesReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: { ...unsetCreationTime(release) },
    spec: {},
    status: {
      resourceRules,
      nonResourceRules,
      incomplete,
      ...(errors.length > 0 && { evaluationError: joinErrors(errors) }),
    },
  }
}

/** Exactly one of resourceAttributes and nonResourceAttributes must be set. */
function unionErrors(spec: Loose, isOfSpec: boolean): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec
  if ((resourceAttributes != null) !== (nonResourceAttributes != null)) return []
  const one = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  const hasBoth = resourceAttributes != null
  const shown = hasBoth ? showPath(nonResourceAttributes) : asGo('"null"', 'null')
  if (isOfSpec) return [invalid('spec', shown, one)]
  const both = 'cannot be specified in combination with resourceAttributes'
  return hasBoth
    ? [invalid('spec.nonResourceAttributes', shown, both)]
    : [invalid('spec.resourceAttributes', shown, one)]
}

function subjectErrors({ user, groups }: Loose): FieldError[] {
  if ((user ?? '') !== '' || (groups ?? []).length > 0) return []
  return [invalid('spec.user', '', 'at least one of user or group must be specified')]
}

function localErrors({ metadata, spec = {} }: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const { resourceAttributes, nonResourceAttributes } = spec
  const namespace: string = resourceAttributes?.namespace ?? ''
  if (resourceAttributes != null && namespace !== (metadata.namespace ?? ''))
    errors.push(
      invalid('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace'),
    )
  if (nonResourceAttributes != null)
    errors.push(
      invalid(
        'spec.nonResourceAttributes',
        showPath(nonResourceAttributes),
        'disallowed on this kind of request',
      ),
    )
  return errors
}

function isEmpty(metadata: ObjectMeta, exceptNamespace: boolean): boolean {
  return Object.entries(metadata ?? {}).every(([field, value]) => {
    if (field === 'managedFields' || (exceptNamespace && field === 'namespace')) return true
    if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
    return value === undefined || value === null || value === '' || value === 0
  })
}

const subjectOf = ({ user = '', groups, uid = '', extra }: Loose): User => ({
  name: user,
  uid,
  groups: groups ?? [],
  extra: extra ?? {},
})

function attributesOf(spec: Loose, user: User): Attributes {
  const resource: Loose | undefined = spec.resourceAttributes ?? undefined
  const { verb = '' } = resource ?? spec.nonResourceAttributes ?? {}
  return {
    user,
    verb,
    isResource: resource !== undefined,
    group: resource?.group ?? '',
    version: resource?.version ?? '',
    resource: resource?.resource ?? '',
    subresource: resource?.subresource ?? '',
    namespace: resource?.namespace ?? '',
    name: resource?.name ?? '',
    path: resource === undefined ? (spec.nonResourceAttributes?.path ?? '') : '',
  }
}

function statusOf({ decision, reason, error }: Decision, selectors?: Selectors): Loose {
  const problems = [
    ...(error === undefined ? [] : [error]),
    ...ignored('fieldSelector', selectors?.fields),
    ...ignored('labelSelector', selectors?.labels),
  ]
  return {
    allowed: decision === 'allow',
    ...(decision === 'deny' && { denied: true }),
    ...(reason !== '' && { reason }),
    ...(problems.length > 0 && { evaluationError: problems.join('; ') }),
  }
}

function ignored(field: string, selection: Selection<unknown> | undefined): string[] {
  if (selection?.failed !== true) return []
  const how = selection.requirements.length > 0 ? 'partially ignored' : 'ignored'
  return [`spec.resourceAttributes.${field} ${how} due to parse error`]
}

const showPath = ({ path = '', verb = '' }: Loose) =>
  asGo(
    goStruct('authorization.NonResourceAttributes', [
      ['Path', goQuote(path)],
      ['Verb', goQuote(verb)],
    ]),
  )

/** Metadata fields in the order of the type. */
const metadataFields = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
] as const

function metadataJson(metadata: ObjectMeta): string {
  const members = metadataFields
    .filter((field) => metadata[field] !== undefined && metadata[field] !== null)
    .map((field) => `"${field}":${goJson(metadata[field])}`)
  const { managedFields } = metadata
  // The members of an entry are also in the order of the type, while goJson would sort them.
  if (managedFields !== undefined) members.push(`"managedFields":${JSON.stringify(managedFields)}`)
  return `{${members.join(',')}}`
}

const zeroTime = 'time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)'

/**
 * The metadata as Go prints it. For times, owner references and managed fields Go prints memory
 * addresses, which have no meaning for clients. They are shown as if they were unset.
 */
function showMetadata(metadata: ObjectMeta): GoText {
  const text = (field: keyof ObjectMeta) => goQuote(String(metadata[field] ?? ''))
  return goStruct('v1.ObjectMeta', [
    ['Name', text('name')],
    ['GenerateName', text('generateName')],
    ['Namespace', text('namespace')],
    ['SelfLink', text('selfLink')],
    ['UID', text('uid')],
    ['ResourceVersion', text('resourceVersion')],
    ['Generation', String(metadata.generation ?? 0)],
    ['CreationTimestamp', zeroTime],
    ['DeletionTimestamp', '<nil>'],
    ['DeletionGracePeriodSeconds', goPointer('int64', metadata.deletionGracePeriodSeconds)],
    ['Labels', goStringMap(metadata.labels)],
    ['Annotations', goStringMap(metadata.annotations)],
    ['OwnerReferences', '[]v1.OwnerReference(nil)'],
    ['Finalizers', goStrings(metadata.finalizers)],
    ['ClusterName', text('clusterName')],
    ['ManagedFields', '[]v1.ManagedFieldsEntry(nil)'],
  ])
}
