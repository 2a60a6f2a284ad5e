/** Validation of topology selectors, which limit where volumes of a storage class can be. */
import { duplicate, type FieldError, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { validateLabelName } from '#api/label-rules.ts'
import type { Loose } from '#api/object-meta.ts'
import { repeats } from '#kinds/all-kinds/checks.ts'

export function checkTopologySelectorTerm(term: Loose, path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  const expressions: Loose[] = term.matchLabelExpressions ?? []
  return expressions.flatMap(({ key = '', values }, i) => {
    const at = path.child('matchLabelExpressions').index(i)
    const list: string[] = values ?? []
    const errors: FieldError[] = []
    if (list.length === 0) errors.push(required(at.child('values')))
    const isRepeated = repeats(list)
    for (const [j, value] of list.entries()) {
      if (isRepeated[j]) errors.push(duplicate(at.child('values').index(j), value))
    }
    errors.push(...validateLabelName(key, at.child('key')))
    if (seen.has(key)) errors.push(duplicate(at.child('key'), key))
    seen.add(key)
    return errors
  })
}
