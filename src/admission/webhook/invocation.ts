/** Decides whether a webhook is called for a request, and with which version of the object. */
import type { AdmissionRequest } from '#admission/admission.ts'
import { decidesAdmission, isReview } from '#admission/exempt.ts'
import { matchesLabels, selectsEverything } from '#api/label-selector.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { notFound } from '#api/status-error.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { Hook, WebhookRule } from './hook.ts'

export interface Invocation {
  readonly hook: Hook
  /** The version of the object that the webhook requires. */
  readonly kind: Kind
  /** Whether the decision also depends on the labels of the namespace. */
  readonly byNamespace: boolean
}

/** Whether no webhook may intercept the request. `skipsReviews` is a feature gate for reviews. */
export const isExempt = ({ kind }: AdmissionRequest, skipsReviews: boolean): boolean =>
  decidesAdmission(kind) || (skipsReviews && isReview(kind))

const has = (list: readonly string[], wanted: string) => list.includes(wanted) || list.includes('*')

/** Matches the rules and the object selector; synchronous. */
export function invocationOf(hook: Hook, request: AdmissionRequest): Invocation | undefined {
  const kind = kindForHook(hook, request)
  if (kind === undefined) return undefined
  const { objectSelector, namespaceSelector } = hook
  if (!selectsEverything(objectSelector)) {
    const selected = (object: KubeObject | undefined) =>
      object !== undefined && matchesLabels(objectSelector, object.metadata?.labels)
    if (!selected(request.object) && !selected(request.old)) return undefined
  }
  const inNamespace = request.namespace !== '' || request.kind.plural === 'namespaces'
  return { hook, kind, byNamespace: inNamespace && !selectsEverything(namespaceSelector) }
}

/**
 * The kind in which the webhook receives the object: the requested version if a rule names it. With
 * matchPolicy Equivalent it can be another version that a rule names.
 */
function kindForHook({ rules, equivalent }: Hook, request: AdmissionRequest): Kind | undefined {
  const { kind, subresource } = request
  if (rules.some((rule) => matchesRule(rule, request, kind))) return kind
  if (!equivalent) return undefined
  for (const rule of rules) {
    for (const other of kind.resource.kinds) {
      if (other === kind || (subresource !== '' && !other.subresources.has(subresource))) continue
      if (matchesRule(rule, request, other)) return other
    }
  }
  return undefined
}

export function matchesRule(
  rule: WebhookRule,
  { operation, namespace, subresource }: AdmissionRequest,
  kind: Kind,
): boolean {
  if (!has(rule.operations, operation)) return false
  if (!has(rule.apiGroups, kind.group) || !has(rule.apiVersions, kind.version)) return false
  const named = rule.resources.some(
    ([resource, sub]) =>
      (resource === '*' || resource === kind.plural) && (sub === '*' || sub === subresource),
  )
  if (!named || rule.scope === '*') return named
  const clusterWide = namespace === '' || (kind.group === '' && kind.plural === 'namespaces')
  return rule.scope === 'Cluster' ? clusterWide : rule.scope === 'Namespaced' && !clusterWide
}

/**
 * Matches the namespaceSelector against the labels of the request's namespace. For a request for a
 * Namespace these are the labels of the submitted object.
 */
export async function inSelectedNamespace(
  { hook }: Invocation,
  request: AdmissionRequest,
  reader: ObjectReader,
): Promise<boolean> {
  const { kind, operation, subresource, namespace, name } = request
  const isNamespace = kind.plural === 'namespaces'
  if (isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) {
    return matchesLabels(hook.namespaceSelector, request.object?.metadata.labels)
  }
  const wanted = namespace || name
  const found = await reader.get('', 'namespaces', '', wanted)
  if (found === undefined) throw notFound({ group: '', plural: 'namespaces' }, wanted)
  return matchesLabels(hook.namespaceSelector, found.metadata.labels)
}
