/**
 * Validates the CEL rules of a definition: they must be complete, compile, and stay within the cost
 * limit for the largest possible objects.
 */
import {
  type FieldError,
  forbidden,
  internalFieldError,
  invalid,
  notSupported,
  required,
} from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { change, type Release } from '#api/releases/change.ts'
import { cardinalityMax } from '#cel/schema-type.ts'
import {
  type ChooseEnvironment,
  type CompiledRule,
  compileRule,
} from '#kinds/custom/rules/compile-rule.ts'
import { findPath } from '#kinds/custom/rules/rule-path.ts'
import type { RuleTimer } from '#kinds/custom/rules/rule-timer.ts'
import { type JsonSchema, rulesOf, type ValidationRule } from '#schema/structural/json-schema.ts'
import { unsupported } from '#schema/structural/rules.ts'
import type { RulePlace } from './rule-place.ts'
import { ruleValue } from './rule-values.ts'

/** Limits of the estimated cost of one rule, and of all rules of a schema. */
const ruleCostMax = 10_000_000
const schemaCostMax = 100_000_000
/** If the total cost is too high, the error names this many of the most expensive rules. */
const namedRulesMax = 4
const largestCost = 2 ** 64

const reasons = [
  ...['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'],
]

const checksFieldPaths = change('definitions check the fieldPath of validation rules', {
  since: 28,
})
const checksMessageExpressions = change('definitions check the messageExpression of rules', {
  since: 27,
})
const namesPathTersely = change('an invalid fieldPath of a rule must be a valid path', {
  since: 34,
})
const notPath = (release: Release): string =>
  release.has(namesPathTersely) ? 'must be a valid path' : 'fieldPath must be a valid path'

const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text)

/** Complete rules, before any expression is compiled. */
export function checkRuleFields(
  schema: JsonSchema,
  path: FieldPath,
  release: Release,
): FieldError[] {
  return rulesOf(schema).flatMap((rule, at) => {
    const place = path.child('x-kubernetes-validations').index(at)
    return [...checkTexts(rule, place), ...checkLaterFields(rule, schema, place, release)]
  })
}

function checkTexts({ rule, message = '' }: ValidationRule, path: FieldPath): FieldError[] {
  const text = (rule ?? '').trim()
  const trimmed = message.trim()
  if (text === '') return [required(path.child('rule'), 'rule is not specified')]
  const at = path.child('message')
  if (message !== '' && trimmed === '')
    return [invalid(at, message, 'must be non-empty if specified')]
  if (hasLineBreak(trimmed)) return [invalid(at, message, 'must not contain line breaks')]
  if (hasLineBreak(text) && trimmed === '')
    return [required(at, 'message must be specified if rule contains line breaks')]
  return []
}

function checkLaterFields(
  { messageExpression = '', reason, fieldPath = '' }: ValidationRule,
  schema: JsonSchema,
  path: FieldPath,
  release: Release,
): FieldError[] {
  const errors: FieldError[] = []
  if (
    release.has(checksMessageExpressions) &&
    messageExpression !== '' &&
    !messageExpression.trim()
  )
    errors.push(
      required(path.child('messageExpression'), 'messageExpression must be non-empty if specified'),
    )
  if (!release.has(checksFieldPaths)) return errors
  if (reason !== undefined && !reasons.includes(reason))
    errors.push(notSupported(path.child('reason'), reason, reasons))
  if (fieldPath === '') return errors
  const at = path.child('fieldPath')
  if (fieldPath.trim() === '') errors.push(invalid(at, fieldPath, 'must be non-empty if specified'))
  if (hasLineBreak(fieldPath)) errors.push(invalid(at, fieldPath, 'must not contain line breaks'))
  const isKnown = unsupported(schema) !== undefined || isPath(fieldPath, schema)
  if (!isKnown) errors.push(invalid(at, fieldPath, notPath(release)))
  return errors
}

const isPath = (fieldPath: string, schema: JsonSchema): boolean =>
  typeof findPath(fieldPath, schema, true) !== 'string'

interface RuleCost {
  readonly path: FieldPath
  readonly cost: number
}

export interface RuleCheckSettings {
  readonly release: Release
  readonly timed: RuleTimer
  readonly choose: ChooseEnvironment
  /** The schema is unchanged, so rules whose estimated cost now exceeds the limit stay allowed. */
  readonly allowsCosts: boolean
}

/** Checks the rules of one schema and its nested schemas. */
export class RuleChecks {
  readonly errors: FieldError[] = []
  readonly #settings: RuleCheckSettings
  #total = 0
  #expensive: RuleCost[] = []

  constructor(settings: RuleCheckSettings) {
    this.#settings = settings
  }

  /**
   * `uncorrelated` is the nearest list or map above whose elements cannot be correlated with old
   * ones.
   */
  check(place: RulePlace, path: FieldPath, uncorrelated: FieldPath | undefined): void {
    const rules = rulesOf(place.schema)
    if (rules.length === 0) return
    const at = path.child('x-kubernetes-validations')
    const { type, schema } = place
    if (type === undefined) {
      const why = 'unable to convert structural schema to CEL declarations'
      const what = 'failed to construct type information for x-kubernetes-validations rules'
      this.errors.push(internalFieldError(at, `internal error: ${what}: ${why}`))
      return
    }
    const { release, choose, timed } = this.#settings
    const count = place.cardinality ?? cardinalityMax(type)
    const all = timed('compilation', () =>
      rules.map((rule) => compileRule(rule, { schema, type, release }, choose)),
    )
    for (const [index, rule] of rules.entries()) {
      const compiled = all[index] as CompiledRule
      this.#checkRule(rule, compiled, count, at.index(index))
      this.#checkOldSelf(rule, compiled, at.index(index), uncorrelated)
    }
  }

  #checkRule(rule: ValidationRule, compiled: CompiledRule, count: number, path: FieldPath): void {
    const { problem, messageProblem, expression, message } = compiled
    const cost = expression === undefined ? 0 : times(expression.costMax, count)
    this.#checkCost(cost, path.child('rule'), 'estimated rule cost')
    const shown = ruleValue(rule, this.#settings.release)
    if (problem !== undefined) this.errors.push(invalid(path.child('rule'), shown, problem))
    const at = path.child('messageExpression')
    if (messageProblem !== undefined) this.errors.push(invalid(at, shown, messageProblem))
    else if (message !== undefined)
      this.#checkCost(message.costMax, at, 'estimated messageExpression cost')
  }

  #checkCost(cost: number, path: FieldPath, name: string): void {
    if (cost > ruleCostMax && !this.#settings.allowsCosts)
      this.errors.push(forbidden(path, tooExpensive(name, cost, ruleCostMax)))
    this.#total = Math.min(largestCost, this.#total + cost)
    if (cost < schemaCostMax / 100) return
    this.#expensive.push({ path, cost })
    this.#expensive.sort((a, b) => b.cost - a.cost)
    this.#expensive = this.#expensive.slice(0, namedRulesMax)
  }

  #checkOldSelf(
    rule: ValidationRule,
    { usesOldSelf }: CompiledRule,
    path: FieldPath,
    uncorrelated: FieldPath | undefined,
  ): void {
    if (usesOldSelf && uncorrelated !== undefined) {
      const where = `the uncorrelatable portion of the schema within ${uncorrelated}`
      this.errors.push(invalid(path.child('rule'), rule.rule, `oldSelf cannot be used on ${where}`))
    }
    if (usesOldSelf || rule.optionalOldSelf === undefined) return
    const detail = 'may not be set if oldSelf is not used in rule'
    this.errors.push(invalid(path.child('optionalOldSelf'), rule.optionalOldSelf, detail))
  }

  /** Errors if the rules of the schema together cost too much. */
  checkTotal(path: FieldPath): FieldError[] {
    if (this.#total <= schemaCostMax) return []
    const contributed =
      'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    return [
      ...this.#expensive.map((one) => forbidden(one.path, contributed)),
      forbidden(path, tooExpensive(name, this.#total, schemaCostMax)),
    ]
  }
}

const times = (cost: number, count: number): number =>
  cost === 0 ? 0 : Math.min(largestCost, cost * count)

/** Formats a factor as Go does, which rounds half to even: 2.25 becomes 2.2. */
function factorText(factor: number): string {
  if (factor < 1.5) return factor.toFixed(6)
  return factor % 1 === 0.25 ? `${Math.floor(factor)}.2` : factor.toFixed(1)
}

function tooExpensive(name: string, cost: number, limit: number): string {
  const factor = cost / limit
  const shown = factor > 100 ? 'more than 100x' : `${factorText(factor)}x`
  const advice =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared'
  return `${name} exceeds budget by factor of ${shown} (${advice})`
}
