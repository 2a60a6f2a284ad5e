/**
 * Calls with a literal regular expression: it is compiled with the program, and a program with a
 * wrong one fails.
 */
import { ArrayList } from '#cel/collections.ts'
import type { CallEnvironment, Implementation } from '#cel/plan-call.ts'
import { PlanError } from '#cel/plan-error.ts'
import { compileRegex, type Regex } from '#cel/regex.ts'
import { CelError, overloadError, type Value } from '#cel/values.ts'

type Prepare = (constants: readonly (Value | undefined)[]) => Implementation | undefined

const withPattern =
  (call: (regex: Regex, text: string, limit: Value) => Value): Prepare =>
  ([, pattern]) => {
    if (typeof pattern !== 'string') return undefined
    const regex = compileRegex(pattern)
    if (regex instanceof CelError) throw new PlanError(regex.message)
    return (text, _pattern, limit) =>
      typeof text === 'string' ? call(regex, text, limit) : overloadError(text)
  }

function findAll(regex: Regex, text: string, limit: Value): Value {
  if (limit !== undefined && typeof limit !== 'bigint') return overloadError(limit)
  const isLimited = limit !== undefined && limit >= 0n
  return new ArrayList(regex.find(text, isLimited ? Number(limit) : Number.POSITIVE_INFINITY))
}

export const preparedPatterns: CallEnvironment['prepared'] = new Map([
  ['matches', withPattern((regex, text) => regex.test(text))],
  ['find', withPattern((regex, text) => regex.find(text, 1)[0] ?? '')],
  ['findAll', withPattern(findAll)],
])
