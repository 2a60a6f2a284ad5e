/**
 * One requirement of a label selector: a key, an operator and values; checked when made, in the words of
 * labels.NewRequirement. Selectors are lists of these (label-selector.ts).
 */
import { invalid, notSupported } from './field-error.ts'
import { FieldPath } from './field-path.ts'
import { asGo, byCodePoint, goStrings } from './go-syntax.ts'
import { labelValue, qualifiedName } from './names.ts'

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt'

export interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  readonly values: readonly string[]
}

export type Labels = Readonly<Record<string, string>>

/** A selector that cannot be; the message is Kubernetes'. */
export class LabelSelectorError extends Error {}

const operatorNames = ['in', 'notin', '=', '==', '!=', 'gt', 'lt', 'exists', '!']

/** One requirement, checked. Throws LabelSelectorError with every problem it has. */
export function labelRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
): LabelRequirement {
  const path = FieldPath.of('values')
  const errors = []
  const keyProblems = qualifiedName(key)
  if (keyProblems.length > 0) errors.push(invalid('key', key, keyProblems.join('; ')))
  const detail = countProblem(operator, values.length)
  if (detail !== undefined) errors.push(invalid(path, asGo(goStrings(values)), detail))
  if (operator === 'gt' || operator === 'lt') {
    const integer = "for 'Gt', 'Lt' operators, the value must be an integer"
    values.forEach((value, i) => {
      if (asInteger(value) === undefined) errors.push(invalid(path.index(i), value, integer))
    })
  }
  if (!operatorNames.includes(operator)) {
    errors.push(notSupported('operator', operator, operatorNames))
  }
  values.forEach((value, i) => {
    const problems = labelValue(value)
    if (problems.length > 0)
      errors.push(invalid(path.index(i).key(key), value, problems.join('; ')))
  })
  if (errors.length === 0) return { key, operator, values }
  const messages = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))]
  throw new LabelSelectorError(messages.length === 1 ? messages[0] : `[${messages.join(', ')}]`)
}

function countProblem(operator: LabelOperator, count: number): string | undefined {
  switch (operator) {
    case 'in':
    case 'notin':
      return count === 0 ? "for 'in', 'notin' operators, values set can't be empty" : undefined
    case '=':
    case '==':
    case '!=':
      return count !== 1 ? 'exact-match compatibility requires one single value' : undefined
    case 'exists':
    case '!':
      return count !== 0 ? 'values set must be empty for exists and does not exist' : undefined
    case 'gt':
    case 'lt':
      return count !== 1 ? "for 'Gt', 'Lt' operators, exactly one value is required" : undefined
  }
}

/** An int64, as strconv.ParseInt reads one. */
function asInteger(text: string): bigint | undefined {
  if (!/^[-+]?[0-9]+$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return BigInt.asIntN(64, value) === value ? value : undefined
}

export function matchesRequirement(
  requirement: LabelRequirement,
  labels: Labels | null | undefined,
): boolean {
  const { key, operator, values } = requirement
  const has = labels !== null && labels !== undefined && Object.hasOwn(labels, key)
  switch (operator) {
    case 'in':
    case '=':
    case '==':
      return has && values.includes(labels[key] as string)
    case 'notin':
    case '!=':
      return !has || !values.includes(labels[key] as string)
    case 'exists':
      return has
    case '!':
      return !has
    case 'gt':
    case 'lt': {
      const actual = has ? asInteger(labels[key] as string) : undefined
      const bound = asInteger(values[0] ?? '')
      if (actual === undefined || bound === undefined) return false
      return operator === 'gt' ? actual > bound : actual < bound
    }
  }
}

export function formatRequirement({ key, operator, values }: LabelRequirement): string {
  const shown = [...values].sort(byCodePoint).join(',')
  switch (operator) {
    case 'exists':
      return key
    case '!':
      return `!${key}`
    case 'in':
    case 'notin':
      return `${key} ${operator} (${shown})`
    case 'gt':
      return `${key}>${shown}`
    case 'lt':
      return `${key}<${shown}`
    default:
      return key + operator + shown
  }
}
