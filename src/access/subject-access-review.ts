/**
 * The review kinds of authorization.k8s.io: may somebody do something, may I, and what may I do at all. Objects are in
 * version v1 as sent, before any metadata is filled in. Nothing is stored.
 */
import {
  asGo,
  goPointer,
  goQuote,
  goStringMap,
  goStrings,
  goStruct,
  type GoText,
} from '#api/go-syntax.ts'
import { type FieldError, invalid } from '#api/field-error.ts'
import type { KubeObject, Loose, ObjectMeta } from '#api/object-meta.ts'
import { badRequest, invalidObject } from '#api/status-error.ts'
import type { Attributes, Authorizer, Decision, RuleResolver } from './authorize.ts'
import { joinErrors } from './error-list.ts'
import type { User } from './user.ts'

export type ReviewKind =
  | 'SubjectAccessReview'
  | 'LocalSubjectAccessReview'
  | 'SelfSubjectAccessReview'

/** The errors name no kind: the original has forgotten it by then. */
const reviewName = { group: 'authorization.k8s.io', kind: '' }

/** Throws what is wrong with a review. `namespace` is the one of the request's path. */
export function checkReview(kind: ReviewKind, review: KubeObject, namespace: string): void {
  const errors = specErrors(review.spec ?? {}, kind !== 'SelfSubjectAccessReview')
  const local = kind === 'LocalSubjectAccessReview'
  if (!isEmpty(review.metadata, local))
    errors.push(
      invalid(
        'metadata',
        asGo(showMetadata(review.metadata)),
        local ? 'must be empty except for namespace' : 'must be empty',
      ),
    )
  if (local) errors.push(...localErrors(review))
  if (errors.length > 0) throw invalidObject(reviewName, '', errors)
  if (local && namespace !== (review.metadata.namespace ?? ''))
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`)
}

/** The status of a checked review. */
export async function reviewStatus(
  kind: ReviewKind,
  review: KubeObject,
  caller: User,
  authorizer: Authorizer,
): Promise<Loose> {
  const user = kind === 'SelfSubjectAccessReview' ? caller : subjectOf(review.spec)
  return statusOf(await authorizer.authorize(attributesOf(review.spec, user)))
}

/** What may I do, and where: the where must be said. */
export function requireNamespace({ spec }: KubeObject): string {
  const namespace: string = spec?.namespace ?? ''
  if (namespace === '') throw badRequest('no namespace on request')
  return namespace
}

/** The whole answer to a SelfSubjectRulesReview, which repeats nothing of the question. */
export function rulesReview(review: KubeObject, caller: User, rules: RuleResolver): KubeObject {
  const namespace = requireNamespace(review)
  const { resourceRules, nonResourceRules, incomplete, errors } = rules.rulesFor(caller, namespace)
  return {
    kind: 'SelfSubjectRulesReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: { creationTimestamp: null },
    spec: {},
    status: {
      resourceRules,
      nonResourceRules,
      incomplete,
      ...(errors.length > 0 && { evaluationError: joinErrors(errors) }),
    },
  }
}

function specErrors(spec: Loose, namesSubject: boolean): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec
  const errors: FieldError[] = []
  if (resourceAttributes != null && nonResourceAttributes != null)
    errors.push(
      invalid(
        'spec.nonResourceAttributes',
        showPath(nonResourceAttributes),
        'cannot be specified in combination with resourceAttributes',
      ),
    )
  if (resourceAttributes == null && nonResourceAttributes == null)
    errors.push(
      invalid(
        'spec.resourceAttributes',
        'null',
        'exactly one of nonResourceAttributes or resourceAttributes must be specified',
      ),
    )
  if (namesSubject && (spec.user ?? '') === '' && (spec.groups ?? []).length === 0)
    errors.push(invalid('spec.user', '', 'at least one of user or group must be specified'))
  return errors
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

const statusOf = ({ decision, reason, error }: Decision): Loose => ({
  allowed: decision === 'allow',
  ...(decision === 'deny' && { denied: true }),
  ...(reason !== '' && { reason }),
  ...(error !== undefined && { evaluationError: error }),
})

const showPath = ({ path = '', verb = '' }: Loose) =>
  asGo(
    goStruct('authorization.NonResourceAttributes', [
      ['Path', goQuote(path)],
      ['Verb', goQuote(verb)],
    ]),
  )

const zeroTime = 'time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)'

/** As far as it can be shown: times and addresses inside are of no use to anyone. */
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
