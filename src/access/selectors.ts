/**
 * The selectors of a request for authorizers. A selector that cannot be parsed is treated as
 * absent. That is safe: requirements only narrow a request, so without them the authorizer decides
 * about a broader request.
 */
import { type FieldRequirement, parseFieldSelector } from '#api/field-selector.ts'
import {
  type LabelOperator,
  type LabelRequirement,
  labelRequirement,
} from '#api/label-requirement.ts'
import { parseSelectorText } from '#api/label-selector-text.ts'
import type { Loose } from '#api/object-meta.ts'

export interface Selection<Requirement> {
  readonly requirements: readonly Requirement[]
  /** Whether the selector or a part of it could not be parsed. */
  readonly failed: boolean
}

export interface Selectors {
  readonly fields: Selection<FieldRequirement> | undefined
  readonly labels: Selection<LabelRequirement> | undefined
}

/** Parses nothing until an authorizer needs a selector, because most decisions need none. */
class QuerySelectors implements Selectors {
  readonly #fieldText: string
  readonly #labelText: string
  constructor(fieldText: string, labelText: string) {
    this.#fieldText = fieldText
    this.#labelText = labelText
  }

  get fields(): Selection<FieldRequirement> | undefined {
    return selectionOf(this.#fieldText, parseFieldSelector)
  }

  get labels(): Selection<LabelRequirement> | undefined {
    return selectionOf(this.#labelText, parseSelectorText)
  }
}

function selectionOf<R>(text: string, parse: (text: string) => readonly R[]) {
  if (text === '') return undefined
  try {
    const requirements = parse(text)
    return requirements.length === 0 ? undefined : { requirements, failed: false }
  } catch {
    return { requirements: [], failed: true }
  }
}

const selectingVerbs = new Set(['list', 'watch', 'deletecollection'])

/** Selectors as texts, for any verb. */
export const selectorsOfTexts = (fieldText: string, labelText: string): Selectors | undefined =>
  fieldText === '' && labelText === '' ? undefined : new QuerySelectors(fieldText, labelText)

/** The selectors in the query of a list, a watch or the deletion of a collection. */
export function selectorsOfQuery(verb: string, query: URLSearchParams): Selectors | undefined {
  if (!selectingVerbs.has(verb)) return undefined
  return selectorsOfTexts(query.get('fieldSelector') ?? '', query.get('labelSelector') ?? '')
}

/**
 * The selectors of a SubjectAccessReview. Each is a text or a list of requirements. This release
 * may not know some of the operators.
 */
export function selectorsOfReview({ fieldSelector, labelSelector }: Loose): Selectors | undefined {
  if (fieldSelector == null && labelSelector == null) return undefined
  return {
    fields: reviewed(fieldSelector, parseFieldSelector, fieldRequirement),
    labels: reviewed(labelSelector, parseSelectorText, labelRequirementOf),
  }
}

function reviewed<R>(
  selector: Loose | undefined,
  parse: (text: string) => readonly R[],
  read: (requirement: Loose) => R | undefined,
): Selection<R> | undefined {
  if (selector == null) return undefined
  const listed: Loose[] = selector.requirements ?? []
  if (listed.length === 0) return selectionOf(selector.rawSelector ?? '', parse)
  const requirements = listed.map(read).filter((one) => one !== undefined)
  return { requirements, failed: requirements.length < listed.length }
}

/** A field requirement has exactly one value. */
function fieldRequirement({ key = '', operator, values = [] }: Loose) {
  if ((operator !== 'In' && operator !== 'NotIn') || values.length !== 1) return undefined
  return { field: key as string, value: values[0] as string, equal: operator === 'In' }
}

const operators: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
])

function labelRequirementOf({ key = '', operator, values = [] }: Loose) {
  const known = operators.get(operator)
  if (known === undefined) return undefined
  try {
    return labelRequirement(key, known, values)
  } catch {
    return undefined
  }
}

/**
 * Whether the selector requires this value of a field. The Node authorizer uses it for pods bound
 * to a node.
 */
export const requiresField = (
  selectors: Selectors | undefined,
  field: string,
  value: string,
): boolean =>
  selectors?.fields?.requirements.some(
    (one) => one.field === field && one.equal && one.value === value,
  ) ?? false

const reviewOperators: Readonly<Record<LabelOperator, string | undefined>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
  gt: undefined,
  lt: undefined,
}

/**
 * Converts selectors to the form of a SubjectAccessReview. Requirements without an equivalent
 * operator are omitted.
 */
export function selectorsForReview(selectors: Selectors | undefined): Loose {
  const fields = (selectors?.fields?.requirements ?? []).map(({ field, value, equal }) => ({
    key: field,
    operator: equal ? 'In' : 'NotIn',
    values: [value],
  }))
  const labels = (selectors?.labels?.requirements ?? []).flatMap(({ key, operator, values }) => {
    const known = reviewOperators[operator]
    if (known === undefined) return []
    return [{ key, operator: known, ...(values.length > 0 && { values: [...values] }) }]
  })
  return {
    ...(fields.length > 0 && { fieldSelector: { requirements: fields } }),
    ...(labels.length > 0 && { labelSelector: { requirements: labels } }),
  }
}
