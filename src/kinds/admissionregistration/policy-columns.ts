/** Table columns of admission policies and their bindings. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ageOf } from '#kinds/all-kinds/age.ts'
import { ageColumn, column, nameColumn } from '#kinds/all-kinds/column.ts'
import type { TableColumns } from '#kinds/table-columns.ts'

function paramKindOf({ spec }: KubeObject): string {
  const kind: Loose | undefined = spec?.paramKind
  return kind ? `${kind.apiVersion ?? ''}/${kind.kind ?? ''}` : '<unset>'
}

/** Columns of policies: how many validations or mutations one has. */
export const policyColumns = (title: string, field: string): TableColumns => ({
  columns: [
    nameColumn,
    column(title, `Number of ${field}.`, 'integer'),
    column('ParamKind', 'Kind of the parameters.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    (object.spec?.[field] ?? []).length,
    paramKindOf(object),
    ageOf(object, now),
  ],
})

function paramRefOf({ spec }: KubeObject): string {
  const ref: Loose | undefined = spec?.paramRef
  if (!ref) return '<unset>'
  if (ref.name) return `${ref.namespace || '*'}/${ref.name}`
  return ref.selector ? goSelector(ref.selector) : '<unset>'
}

/**
 * A selector as Go prints the message: `&LabelSelector{MatchLabels:map[string]string{a: b,},…}`.
 */
function goSelector({ matchLabels, matchExpressions }: Loose): string {
  const labels = Object.entries(matchLabels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
  const requirements = ((matchExpressions ?? []) as Loose[]).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${requirements.join('')}},}`
}

export const bindingColumns: TableColumns = {
  columns: [
    nameColumn,
    column('PolicyName', 'The policy that is bound.'),
    column('ParamRef', 'The parameters of the policy.'),
    ageColumn,
  ],
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.policyName ?? '',
    paramRefOf(object),
    ageOf(object, now),
  ],
}
