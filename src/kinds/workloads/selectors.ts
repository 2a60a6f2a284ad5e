/** The selector of a controller and the labels of its template: it must find the pods it makes. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import {
  asGo,
  type GoText,
  goJson,
  goList,
  goQuote,
  goStringMap,
  goStrings,
  goStruct,
} from '#api/go-syntax.ts'
import { LabelSelectorError } from '#api/label-requirement.ts'
import { checksSelectorValues, validateLabelSelector } from '#api/label-rules.ts'
import {
  type LabelSelector,
  matchesLabels,
  selectorOf,
  selectsEverything,
} from '#api/label-selector.ts'
import type { Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import type { Release } from '#api/releases/change.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import { listAsWritten } from '#kinds/all-kinds/checks.ts'

/** A LabelSelector as messages show it; absent is null. */
export function goLabelSelector(selector: Loose | null | undefined): GoText | undefined {
  if (!selector) return undefined
  const expressions: Loose[] | undefined = selector.matchExpressions ?? undefined
  const shown = expressions?.map((expression) =>
    goStruct('v1.LabelSelectorRequirement', [
      ['Key', goQuote(expression.key ?? '')],
      ['Operator', goQuote(expression.operator ?? '')],
      ['Values', goStrings(listAsWritten(expression, 'values'))],
    ]),
  )
  const emptyList = wasWrittenEmpty(selector, 'matchExpressions') ? [] : undefined
  return asGo(
    goStruct('v1.LabelSelector', [
      ['MatchLabels', goLabels(selector, 'matchLabels')],
      ['MatchExpressions', goList('v1.LabelSelectorRequirement', shown ?? emptyList)],
    ]),
    labelSelectorJson(selector),
  )
}

/** Serialises a LabelSelector as encoding/json does: in field order, without empty fields. */
function labelSelectorJson({ matchLabels, matchExpressions }: Loose): string {
  const members: string[] = []
  if (Object.keys(matchLabels ?? {}).length > 0) {
    members.push(`"matchLabels":${goJson(matchLabels)}`)
  }
  const expressions = (matchExpressions ?? []).map(
    ({ key = '', operator = '', values }: Loose) =>
      `{"key":${goJson(key)},"operator":${goJson(operator)}${
        values?.length > 0 ? `,"values":${goJson(values)}` : ''
      }}`,
  )
  if (expressions.length > 0) members.push(`"matchExpressions":[${expressions.join(',')}]`)
  return `{${members.join(',')}}`
}

/** A map of labels as messages show it; one written empty is not none. */
function goLabels(holder: Loose | null | undefined, field: string): GoText {
  return goStringMap(holder?.[field] ?? (wasWrittenEmpty(holder, field) ? {} : undefined))
}

/** The selector; undefined if it is invalid. */
export function trySelector(selector: Loose | null | undefined): LabelSelector | undefined {
  try {
    return selectorOf(selector)
  } catch (error) {
    if (error instanceof LabelSelectorError) return undefined
    throw error
  }
}

export const isEmptySelector = (selector: Loose): boolean =>
  Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0

/** Validates a required, nonempty selector; errors contain `kind`. */
export function checkSelector(
  selector: Loose | null | undefined,
  kind: string,
  path: FieldPath,
  release: Pick<Release, 'has'>,
): FieldError[] {
  if (!selector) return [required(path)]
  const errors = validateLabelSelector(selector, path, checksSelectorValues(release))
  if (isEmptySelector(selector)) {
    const detail = `empty selector is invalid for ${kind}`
    errors.push(invalid(path, goLabelSelector(selector), detail))
  }
  return errors
}

/** Errors where the template's labels are not selected. `path` is the template's. */
export function checkSelected(
  selector: LabelSelector,
  template: Loose,
  path: FieldPath,
): FieldError[] {
  if (matchesLabels(selector, template.metadata?.labels)) return []
  const detail = '`selector` does not match template `labels`'
  const shown = asGo(goLabels(template.metadata, 'labels'))
  return [invalid(path.child('metadata', 'labels'), shown, detail)]
}

/** The same, but an empty selector need not select. */
export const checkSelectedUnlessEmpty = (
  selector: LabelSelector,
  template: Loose,
  path: FieldPath,
): FieldError[] => (selectsEverything(selector) ? [] : checkSelected(selector, template, path))

export const checkSelectorUnchanged = (
  next: Loose | null | undefined,
  old: Loose | null | undefined,
  path: FieldPath,
): FieldError[] =>
  semanticEqual(next, old) ? [] : [invalid(path, goLabelSelector(next), immutableMessage)]
