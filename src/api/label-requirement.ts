/**
 * One requirement of a label selector: a key, an operator and values. It is validated on creation,
 * with the messages of labels.NewRequirement. A selector is a list of requirements
 * (label-selector.ts).
 */
import { invalid } from './field-error.ts'
import { FieldPath } from './field-path.ts'
import { asGo, byCodePoint, goQuote, goStrings, type GoText } from './go-syntax.ts'
import { labelValue, qualifiedName } from './names.ts'
import { newestWords, type Words } from './release-words.ts'

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt'

export interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  readonly values: readonly string[]
}

export type Labels = Readonly<Record<string, string>>

/**
 * An invalid selector. The message has the wording of the newest release; `inWords` returns that of
 * another release.
 */
export class LabelSelectorError extends Error {
  readonly inWords: (words: Words) => string

  constructor(inWords: (words: Words) => string) {
    super(inWords(newestWords))
    this.inWords = inWords
  }
}

/**
 * One error of a requirement. Newer releases report the field path; older ones use another
 * sentence.
 */
interface Fault {
  readonly place: string
  readonly value: string | GoText
  readonly problems: readonly string[]
  /** The text that older releases write before the problems. */
  readonly older: string
}

/** Creates a valid requirement. Throws LabelSelectorError with all problems. */
export function labelRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
): LabelRequirement {
  const path = FieldPath.of('values')
  const faults: Fault[] = []
  const refuse = (
    place: FieldPath | string,
    value: string | GoText,
    problems: string[],
    older = '',
  ) => problems.length > 0 && faults.push({ place: place.toString(), value, problems, older })
  refuse('key', key, qualifiedName(key), invalidKey(key))
  refuse(path, asGo(goStrings(values)), countProblems(operator, values.length))
  if (operator === 'gt' || operator === 'lt') {
    const integer = "for 'Gt', 'Lt' operators, the value must be an integer"
    values.forEach((value, i) => {
      if (asInteger(value) === undefined) refuse(path.index(i), value, [integer])
    })
  }
  values.forEach((value, i) => {
    const older = `invalid label value: ${goQuote(value)}: at key: ${goQuote(key)}: `
    refuse(path.index(i).key(key), value, labelValue(value), older)
  })
  if (faults.length === 0) return { key, operator, values }
  throw new LabelSelectorError((words) => sentenceOf(faults, words))
}

/** The text that older releases write before the problems of a key. */
export const invalidKey = (key: string): string => `invalid label key ${goQuote(key)}: `

function sentenceOf(faults: readonly Fault[], words: Words): string {
  const joined = (problems: readonly string[]) => problems.map((one) => words.of(one)).join('; ')
  const [first] = faults as [Fault]
  if (!words.namesSelectorParts) return first.older + joined(first.problems)
  const all = faults.map(
    ({ place, value, problems }) => `${place}: ${invalid(place, value, joined(problems)).message}`,
  )
  const messages = [...new Set(all)]
  return messages.length === 1 ? (messages[0] as string) : `[${messages.join(', ')}]`
}

function countProblems(operator: LabelOperator, count: number): string[] {
  switch (operator) {
    case 'in':
    case 'notin':
      return count === 0 ? ["for 'in', 'notin' operators, values set can't be empty"] : []
    case '=':
    case '==':
    case '!=':
      return count !== 1 ? ['exact-match compatibility requires one single value'] : []
    case 'exists':
    case '!':
      return count !== 0 ? ['values set must be empty for exists and does not exist'] : []
    case 'gt':
    case 'lt':
      return count !== 1 ? ["for 'Gt', 'Lt' operators, exactly one value is required"] : []
  }
}

/** Parses an int64 like strconv.ParseInt. */
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
