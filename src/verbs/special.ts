/**
 * Resources and subresources that are not an object read or written as it is: scale, bindings, evictions, tokens,
 * reviews, component statuses, and the deletion of namespaces. One row each; everything else goes through the ordinary verbs.
 */
import type { ListOptions } from '#api/list-options.ts'
import type { Answer } from './answer.ts'
import type { DeleteRequest } from './delete.ts'
import type { PatchRequest } from './patch.ts'
import type { Server, Target, WriteRequest } from './server.ts'
import { bindPod } from './special/binding.ts'
import { getComponentStatus, listComponentStatuses } from './special/component-status.ts'
import { deleteDefinition } from './special/definition-deletion.ts'
import { evict } from './special/eviction.ts'
import { deleteNamespace } from './special/namespace-deletion.ts'
import { reviewAccess, reviewRules, reviewToken } from './special/reviews.ts'
import { getScale, patchScale, updateScale } from './special/scale.ts'
import { requestToken } from './special/token.ts'

export interface SpecialVerbs {
  readonly get?: (server: Server, target: Target, query: URLSearchParams) => Promise<Answer>
  readonly list?: (server: Server, target: Target, options: ListOptions) => Promise<Answer>
  readonly create?: (server: Server, request: WriteRequest) => Promise<Answer>
  readonly update?: (server: Server, request: WriteRequest) => Promise<Answer>
  readonly patch?: (server: Server, request: PatchRequest) => Promise<Answer>
  readonly delete?: (server: Server, request: DeleteRequest) => Promise<Answer>
}

const none: SpecialVerbs = {}

/** By `<group>/<plural>[/<subresource>]`; a star stands for every resource. */
const table: Readonly<Record<string, SpecialVerbs>> = {
  '*/scale': { get: getScale, update: updateScale, patch: patchScale },
  '/componentstatuses': { get: getComponentStatus, list: listComponentStatuses },
  '/pods/binding': { create: bindPod },
  '/bindings': { create: bindPod },
  '/pods/eviction': { create: evict },
  '/namespaces': { delete: deleteNamespace },
  '/serviceaccounts/token': { create: requestToken },
  'apiextensions.k8s.io/customresourcedefinitions': { delete: deleteDefinition },
  'authentication.k8s.io/tokenreviews': { create: reviewToken },
  'authorization.k8s.io/subjectaccessreviews': { create: reviewAccess('SubjectAccessReview') },
  'authorization.k8s.io/localsubjectaccessreviews': {
    create: reviewAccess('LocalSubjectAccessReview'),
  },
  'authorization.k8s.io/selfsubjectaccessreviews': {
    create: reviewAccess('SelfSubjectAccessReview'),
  },
  'authorization.k8s.io/selfsubjectrulesreviews': { create: reviewRules },
}

export function specialVerbs({ kind, subresource }: Target): SpecialVerbs {
  if (subresource === '') return table[`${kind.group}/${kind.plural}`] ?? none
  return table[`${kind.group}/${kind.plural}/${subresource}`] ?? table[`*/${subresource}`] ?? none
}
