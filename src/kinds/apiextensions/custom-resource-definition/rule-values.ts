/** A validation rule as errors show it. */
import { asGo, type GoPart, type GoText, goPointer, goQuote, goStruct } from '#api/go-syntax.ts'
import { type ReleaseChange, change, type Release } from '#api/releases/change.ts'
import type { ValidationRule } from '#schema/structural/json-schema.ts'

const messageExpressions = change('validation rules have a messageExpression', { since: 27 })
const reasons = change('validation rules have a reason and a fieldPath', { since: 28 })
const optionalOldSelf = change('validation rules have optionalOldSelf', { since: 29 })

const text = (value: string | undefined): GoText => asGo(goQuote(value ?? ''))

export function ruleValue(rule: ValidationRule, release: Release): GoText {
  const fields: readonly (readonly [string, GoPart, ReleaseChange?])[] = [
    ['Rule', text(rule.rule)],
    ['Message', text(rule.message)],
    ['MessageExpression', text(rule.messageExpression), messageExpressions],
    ['Reason', goPointer('apiextensions.FieldValueErrorReason', rule.reason), reasons],
    ['FieldPath', text(rule.fieldPath), reasons],
    ['OptionalOldSelf', goPointer('bool', rule.optionalOldSelf), optionalOldSelf],
  ]
  const known = fields.filter(([, , added]) => added === undefined || release.has(added))
  const shown = known.map(([name, value]) => [name, value] as const)
  return asGo(goStruct('apiextensions.ValidationRule', shown))
}
