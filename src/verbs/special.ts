/**
 * Resources and subresources with their own verbs: scale, rollbacks, bindings, evictions, tokens,
 * reviews, component statuses, and the deletion of namespaces, definitions and services. There is
 * one row for each; all others use the ordinary verbs.
 */
import type { ListOptions } from '#api/list-options.ts'
import { loadLater } from '#base/load-later.ts'
import type { Answer } from './answer.ts'
import type { DeleteRequest } from './delete.ts'
import type { Server, Target, WriteRequest, PatchRequest } from './server.ts'

export interface SpecialVerbs {
  readonly get?: (server: Server, target: Target, query: URLSearchParams) => Promise<Answer>
  readonly list?: (server: Server, target: Target, options: ListOptions) => Promise<Answer>
  readonly create?: (server: Server, request: WriteRequest) => Promise<Answer>
  readonly update?: (server: Server, request: WriteRequest) => Promise<Answer>
  readonly patch?: (server: Server, request: PatchRequest) => Promise<Answer>
  readonly delete?: (server: Server, request: DeleteRequest) => Promise<Answer>
}

const none: SpecialVerbs = {}

/** Each is loaded on first use. */
const later = <Module>(path: string) => loadLater<Module>(import.meta.url, path)
const load = {
  binding: later<typeof import('./special/binding.ts')>('./special/binding'),
  componentStatus: later<typeof import('./special/component-status.ts')>(
    './special/component-status',
  ),
  definitionDeletion: later<typeof import('./special/definition-deletion.ts')>(
    './special/definition-deletion',
  ),
  eviction: later<typeof import('./special/eviction.ts')>('./special/eviction'),
  namespaceDeletion: later<typeof import('./special/namespace-deletion.ts')>(
    './special/namespace-deletion',
  ),
  reviews: later<typeof import('./special/reviews.ts')>('./special/reviews'),
  serviceDeletion: later<typeof import('./special/service-deletion.ts')>(
    './special/service-deletion',
  ),
  rollback: later<typeof import('./special/rollback.ts')>('./special/rollback'),
  scale: later<typeof import('./special/scale.ts')>('./special/scale'),
  token: later<typeof import('./special/token.ts')>('./special/token'),
}

const reviewAccess = (kind: Parameters<ReturnType<typeof load.reviews>['reviewAccess']>[0]) => ({
  create: (server: Server, request: WriteRequest) =>
    load.reviews().reviewAccess(kind)(server, request),
})
const bindPod: SpecialVerbs['create'] = (...asked) => load.binding().bindPod(...asked)
const rollBack: SpecialVerbs['create'] = (...asked) => load.rollback().rollBack(...asked)

/** The keys are `<group>/<plural>[/<subresource>]`; a star matches every resource. */
const table: Readonly<Record<string, SpecialVerbs>> = {
  '*/scale': {
    get: (server, target, query) =>
      load.scale().getScale(server, target, query.get('resourceVersion') ?? ''),
    update: (...asked) => load.scale().updateScale(...asked),
    patch: (...asked) => load.scale().patchScale(...asked),
  },
  '/componentstatuses': {
    get: (server, target) => load.componentStatus().getComponentStatus(server, target),
    list: (...asked) => load.componentStatus().listComponentStatuses(...asked),
  },
  '/pods/binding': { create: bindPod },
  '/bindings': { create: bindPod },
  '/pods/eviction': { create: (...asked) => load.eviction().evict(...asked) },
  '/namespaces': { delete: (...asked) => load.namespaceDeletion().deleteNamespace(...asked) },
  '/services': { delete: (...asked) => load.serviceDeletion().deleteService(...asked) },
  '/serviceaccounts/token': { create: (...asked) => load.token().requestToken(...asked) },
  'apiextensions.k8s.io/customresourcedefinitions': {
    delete: (...asked) => load.definitionDeletion().deleteDefinition(...asked),
  },
  'apps/deployments/rollback': { create: rollBack },
  'extensions/deployments/rollback': { create: rollBack },
  'authentication.k8s.io/selfsubjectreviews': {
    create: (...asked) => load.reviews().reviewSelf(...asked),
  },
  'authentication.k8s.io/tokenreviews': {
    create: (...asked) => load.reviews().reviewToken(...asked),
  },
  'authorization.k8s.io/subjectaccessreviews': reviewAccess('SubjectAccessReview'),
  'authorization.k8s.io/localsubjectaccessreviews': reviewAccess('LocalSubjectAccessReview'),
  'authorization.k8s.io/selfsubjectaccessreviews': reviewAccess('SelfSubjectAccessReview'),
  'authorization.k8s.io/selfsubjectrulesreviews': {
    create: (...asked) => load.reviews().reviewRules(...asked),
  },
}

export function specialVerbs({ kind, subresource }: Target): SpecialVerbs {
  if (subresource === '') return table[`${kind.group}/${kind.plural}`] ?? none
  return table[`${kind.group}/${kind.plural}/${subresource}`] ?? table[`*/${subresource}`] ?? none
}
