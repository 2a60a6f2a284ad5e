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
const bindPod: SpecialVerbs['create'] = (...requested) => load.binding().bindPod(...requested)
const rollBack: SpecialVerbs['create'] = (...requested) => load.rollback().rollBack(...requested)

/** The keys are `<group>/<plural>[/<subresource>]`; a star matches every resource. */
const table: Readonly<Record<string, SpecialVerbs>> = {
  '*/scale': {
    get: (server, target, query) =>
      load.scale().getScale(server, target, query.get('resourceVersion') ?? ''),
    update: (...requested) => load.scale().updateScale(...requested),
    patch: (...requested) => load.scale().patchScale(...requested),
  },
  '/componentstatuses': {
    get: (server, target) => load.componentStatus().getComponentStatus(server, target),
    list: (...requested) => load.componentStatus().listComponentStatuses(...requested),
  },
  '/pods/binding': { create: bindPod },
  '/bindings': { create: bindPod },
  '/pods/eviction': { create: (...requested) => load.eviction().evict(...requested) },
  '/namespaces': {
    delete: (...requested) => load.namespaceDeletion().deleteNamespace(...requested),
  },
  '/services': { delete: (...requested) => load.serviceDeletion().deleteService(...requested) },
  '/serviceaccounts/token': { create: (...requested) => load.token().requestToken(...requested) },
  'apiextensions.k8s.io/customresourcedefinitions': {
    delete: (...requested) => load.definitionDeletion().deleteDefinition(...requested),
  },
  'apps/deployments/rollback': { create: rollBack },
  'extensions/deployments/rollback': { create: rollBack },
  'authentication.k8s.io/selfsubjectreviews': {
    create: (...requested) => load.reviews().reviewSelf(...requested),
  },
  'authentication.k8s.io/tokenreviews': {
    create: (...requested) => load.reviews().reviewToken(...requested),
  },
  'authorization.k8s.io/subjectaccessreviews': reviewAccess('SubjectAccessReview'),
  'authorization.k8s.io/localsubjectaccessreviews': reviewAccess('LocalSubjectAccessReview'),
  'authorization.k8s.io/selfsubjectaccessreviews': reviewAccess('SelfSubjectAccessReview'),
  'authorization.k8s.io/selfsubjectrulesreviews': {
    create: (...requested) => load.reviews().reviewRules(...requested),
  },
}

export function specialVerbs({ kind, subresource }: Target): SpecialVerbs {
  if (subresource === '') return table[`${kind.group}/${kind.plural}`] ?? none
  return table[`${kind.group}/${kind.plural}/${subresource}`] ?? table[`*/${subresource}`] ?? none
}
