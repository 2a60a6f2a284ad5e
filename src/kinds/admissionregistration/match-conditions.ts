/**
 * Match conditions of webhooks and policies: each has a name, and an expression that must be true.
 */
import { duplicate, type FieldError, invalid, required, tooMany } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import type { Release } from '#api/releases/change.ts'
import { loadLater } from '#base/load-later.ts'
import { checkQualifiedName } from '#kinds/all-kinds/checks.ts'
import type { StoredExpressions } from './stored-expressions.ts'

/** Most webhooks have no conditions; the engine is loaded with the first. */
const loadCompiler = loadLater<typeof import('./expressions/expression-compiler.ts')>(
  import.meta.url,
  './expressions/expression-compiler',
)

/** More conditions would make a request wait too long. */
const conditionsMax = 64

export interface ConditionChecks {
  readonly params: boolean
  readonly stored: StoredExpressions
  readonly release: Release
}

export function checkMatchConditions(
  conditions: readonly Loose[],
  checks: ConditionChecks,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  if (conditions.length > conditionsMax)
    errors.push(tooMany(path, conditions.length, conditionsMax))
  const names = new Set<string>()
  for (const [i, condition] of conditions.entries()) {
    const { name = '', expression = '' } = condition
    const at = path.index(i)
    errors.push(...checkExpression(expression.trim(), checks, at.child('expression')))
    if (name === '') {
      errors.push(required(at.child('name')))
      continue
    }
    errors.push(...checkQualifiedName(name, at.child('name')))
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    names.add(name)
  }
  return errors
}

/** A condition cannot read the variables of its policy: they are compiled later. */
function checkExpression(
  text: string,
  { params, stored, release }: ConditionChecks,
  path: FieldPath,
): FieldError[] {
  if (text === '') return [required(path)]
  const { ExpressionCompiler, results } = loadCompiler()
  const options = { params, authorizer: true }
  const compiler = new ExpressionCompiler(release, false)
  const { problem } = compiler.compile(text, results.bool, options, stored.condition(text))
  return problem === undefined ? [] : [invalid(path, text, problem)]
}
