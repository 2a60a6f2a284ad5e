/**
 * Which requests a policy or a binding matches, parsed once from its MatchResources: rules that
 * include or exclude resources, and selectors of namespaces and objects.
 */
import type { AdmissionRequest } from '#admission/admission.ts'
import { type WebhookRule, ruleOf } from '#admission/webhook/hook.ts'
import { matchesRule } from '#admission/webhook/invocation.ts'
import {
  everything,
  type LabelSelector,
  matchesLabels,
  selectorOf,
  selectsEverything,
} from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Kind } from '#kinds/kind.ts'

interface NamedRule {
  readonly rule: WebhookRule
  /** An empty list matches all names. */
  readonly names: readonly string[]
}

export interface Constraints {
  readonly rules: readonly NamedRule[]
  readonly excluded: readonly NamedRule[]
  /** matchPolicy Equivalent: a rule also matches other versions of its resources. */
  readonly equivalent: boolean
  readonly namespaceSelector: LabelSelector
  readonly objectSelector: LabelSelector
}

const namedRule = (rule: Loose): NamedRule => ({
  rule: ruleOf(rule),
  names: rule.resourceNames ?? [],
})

const selects = (selector: Loose | undefined): LabelSelector =>
  selector ? selectorOf(selector) : everything

export function constraintsOf(resources: Loose): Constraints {
  return {
    rules: ((resources.resourceRules ?? []) as Loose[]).map(namedRule),
    excluded: ((resources.excludeResourceRules ?? []) as Loose[]).map(namedRule),
    equivalent: resources.matchPolicy === 'Equivalent',
    namespaceSelector: selects(resources.namespaceSelector),
    objectSelector: selects(resources.objectSelector),
  }
}

/**
 * The requested version if the rules match it, or an equivalent version. Undefined if the rules do
 * not match.
 */
export function matchedKind(constraints: Constraints, request: AdmissionRequest): Kind | undefined {
  const { rules, excluded, equivalent } = constraints
  if (excluded.length > 0 && kindIn(excluded, equivalent, request) !== undefined) return undefined
  return rules.length === 0 ? request.kind : kindIn(rules, equivalent, request)
}

function kindIn(
  rules: readonly NamedRule[],
  equivalent: boolean,
  request: AdmissionRequest,
): Kind | undefined {
  const { kind, subresource, name } = request
  const matches = ({ rule, names }: NamedRule, version: Kind) =>
    matchesRule(rule, request, version) && (names.length === 0 || names.includes(name))
  if (rules.some((rule) => matches(rule, kind))) return kind
  if (!equivalent) return undefined
  for (const rule of rules)
    for (const other of kind.resource.kinds) {
      if (other === kind || (subresource !== '' && !other.subresources.has(subresource))) continue
      if (matches(rule, other)) return other
    }
  return undefined
}

/** Whether any rule has resourceNames. */
export const namesObjects = ({ rules, excluded }: Constraints): boolean =>
  [...rules, ...excluded].some(({ names }) => names.length > 0)

export function selectsObject(
  { objectSelector: selector }: Constraints,
  { object, old }: AdmissionRequest,
): boolean {
  if (selectsEverything(selector)) return true
  const selected = (one: KubeObject | undefined) =>
    one !== undefined && matchesLabels(selector, one.metadata?.labels)
  return selected(object) || selected(old)
}

/**
 * Whether the namespaceSelector decides. Requests for cluster-scoped resources have no namespace,
 * except those for namespaces.
 */
export const usesNamespaceSelector = (
  { namespaceSelector }: Constraints,
  { namespace, kind }: AdmissionRequest,
): boolean =>
  !selectsEverything(namespaceSelector) && (namespace !== '' || kind.plural === 'namespaces')
