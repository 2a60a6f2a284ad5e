/** One webhook of a configuration. It is compiled once, so that matching its rules is fast. */
import { type LabelSelector, selectorOf } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'

export interface WebhookRule {
  readonly operations: readonly string[]
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  /** `[resource, subresource]` */
  readonly resources: readonly (readonly [string, string])[]
  readonly scope: string
}

export interface Hook {
  /** Configuration, index and name, so that two entries with one name differ. */
  readonly id: string
  readonly name: string
  readonly configuration: string
  readonly rules: readonly WebhookRule[]
  readonly equivalent: boolean
  readonly namespaceSelector: LabelSelector
  readonly objectSelector: LabelSelector
  readonly failsOpen: boolean
  readonly timeoutMs: number
  readonly sideEffects: string | undefined
  readonly reviewVersions: readonly string[]
  readonly reinvocable: boolean
  readonly client: Loose
  /** Expressions that must be true for a request. */
  readonly conditions: readonly Loose[]
}

/** The default timeout of admissionregistration.k8s.io/v1, which both versions use. */
const timeoutSecondsDefault = 10

/** The compiled selector. An absent selector matches everything. */
const selects = (selector: Loose | undefined): LabelSelector =>
  selector ? selectorOf(selector) : []

export function hooksOf({ metadata, webhooks }: KubeObject): Hook[] {
  const configuration = metadata.name as string
  return ((webhooks ?? []) as Loose[]).map((one, i) => ({
    id: `${configuration}/${i}/${one.name}`,
    name: one.name,
    configuration,
    rules: ((one.rules ?? []) as Loose[]).map(ruleOf),
    equivalent: one.matchPolicy === 'Equivalent',
    namespaceSelector: selects(one.namespaceSelector),
    objectSelector: selects(one.objectSelector),
    failsOpen: one.failurePolicy === 'Ignore',
    timeoutMs: (one.timeoutSeconds ?? timeoutSecondsDefault) * 1000,
    sideEffects: one.sideEffects,
    reviewVersions: one.admissionReviewVersions ?? ['v1beta1'],
    reinvocable: one.reinvocationPolicy === 'IfNeeded',
    client: one.clientConfig ?? {},
    conditions: one.matchConditions ?? [],
  }))
}

export function ruleOf({
  operations = [],
  apiGroups = [],
  apiVersions = [],
  resources = [],
  scope = '*',
}: Loose): WebhookRule {
  const split = (resources as string[]).map((text) => {
    const slash = text.indexOf('/')
    return slash < 0
      ? ([text, ''] as const)
      : ([text.slice(0, slash), text.slice(slash + 1)] as const)
  })
  return { operations, apiGroups, apiVersions, resources: split, scope }
}
