/**
 * The parts of the spec that both kinds of admission policies share: everything except validations
 * and mutations.
 */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { checkOneOfRequired, sameJson } from '#kinds/all-kinds/checks.ts'
import type { ExpressionCompiler } from './expressions/expression-compiler.ts'
import { checkMatchConditions } from './match-conditions.ts'
import { checkMatchResources } from './match-resources.ts'
import { checkParamKind } from './params.ts'
import { StoredExpressions } from './stored-expressions.ts'

/** The state of one write of a policy. */
export class PolicyWrite {
  readonly spec: Loose
  readonly old: Loose | undefined
  readonly release: Release
  readonly stored: StoredExpressions

  constructor(spec: Loose, old: Loose | undefined, release: Release) {
    this.spec = spec
    this.old = old
    this.release = release
    this.stored = new StoredExpressions(old === undefined ? [] : [old])
  }

  get hasParams(): boolean {
    return this.spec.paramKind !== undefined && this.spec.paramKind !== null
  }

  /**
   * Unchanged conditions are not compiled again. Whether parameters exist decides what they can
   * read.
   */
  get keepsConditions(): boolean {
    const { spec, old } = this
    return (
      old !== undefined &&
      sameJson(spec.paramKind, old.paramKind) &&
      sameJson(spec.matchConditions, old.matchConditions)
    )
  }
}

/** `found`: errors of the constraints that only one kind of policies has. */
export function checkPolicyHead(
  write: PolicyWrite,
  path: FieldPath,
  found: readonly FieldError[] = [],
): FieldError[] {
  const { spec, release, hasParams: params, stored } = write
  const { matchConstraints: constraints } = spec
  const at = path.child('matchConstraints')
  const errors = checkOneOfRequired(
    spec.failurePolicy,
    ['Fail', 'Ignore'],
    path.child('failurePolicy'),
  )
  if (params) errors.push(...checkParamKind(spec.paramKind, path.child('paramKind')))
  if (constraints === undefined || constraints === null) errors.push(required(at))
  else {
    errors.push(...checkMatchResources(constraints, at, release))
    if ((constraints.resourceRules ?? []).length === 0)
      errors.push(required(at.child('resourceRules')))
    errors.push(...found)
  }
  return errors.concat(
    write.keepsConditions
      ? []
      : checkMatchConditions(
          spec.matchConditions ?? [],
          { params, stored, release },
          path.child('matchConditions'),
        ),
  )
}

const namesIdentifier = change('errors of admission policies say "must be" without the field', {
  since: 34,
})

export const saysMustBe = (release: Release): boolean => release.has(namesIdentifier)

const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/
const reservedWords: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for'],
  ...['function', 'if', 'import', 'let', 'loop', 'package', 'namespace', 'return', 'var'],
  ...['void', 'while'],
])

/** Compiles the variables in order, so that each can use the previous ones. */
export function checkVariables(
  write: PolicyWrite,
  compiler: ExpressionCompiler,
  path: FieldPath,
): FieldError[] {
  const { spec, hasParams: params, stored, release } = write
  const variables: Loose[] = spec.variables ?? []
  return variables.flatMap(({ name = '', expression = '' }, i) => {
    const at = path.index(i)
    const errors: FieldError[] = []
    if (name.trim() === '') errors.push(required(at.child('name'), 'name is not specified'))
    else if (!identifier.test(name) || reservedWords.has(name)) {
      const start = saysMustBe(release) ? 'must be' : 'name is not'
      errors.push(invalid(at.child('name'), name, `${start} a valid CEL identifier`))
    }
    const place = at.child('expression')
    if (expression.trim() === '') return [...errors, required(place, 'expression is not specified')]
    const options = { params, authorizer: true }
    const { problem } = compiler.addVariable(
      name,
      expression,
      options,
      stored.validation(expression),
    )
    if (problem !== undefined) errors.push(invalid(place, expression, problem))
    return errors
  })
}
