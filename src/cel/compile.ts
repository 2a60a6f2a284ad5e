/**
 * The entry to the engine: text → checked expression → program → values.
 *
 *   const compiled = compile('size(object.items) < limit', environment, {
 *     variables: new Map([['object', dynType], ['limit', intType]]),
 *   })
 *   if (compiled instanceof Issues) throw invalid(compiled.text)
 *   const program = compiled.program()
 *   const { value, cost } = program.evaluate(activationOf({ object, limit: 5n }), 1_000_000)
 *
 * A program is compiled once and holds no state: it can evaluate any number of objects.
 */
import type { CheckedExpr } from './ast.ts'
import { boolType, type CelType, type TypeProvider, typeText } from './cel-type.ts'
import { check } from './check/check.ts'
import type { CheckEnvironment } from './check/declared-names.ts'
import type { CelEnvironment } from './environment.ts'
import type { EstimateRules, SizeOf } from './estimate/call-estimate.ts'
import { estimateCost } from './estimate/estimate.ts'
import type { Range } from './estimate/range.ts'
import type { Activation } from './frame.ts'
import { checkLiterals } from './literals/check-literals.ts'
import { parse } from './parse/parse.ts'
import { compileProgram, type Program, type ProgramEnvironment } from './program.ts'
import { selectsField } from './selects.ts'
import type { Value } from './values.ts'

/** What one expression can use beyond its environment. */
export interface Declarations {
  readonly variables: ReadonlyMap<string, CelType>
  /** Knows the fields of object types. */
  readonly types?: TypeProvider
  readonly makeStruct?: ProgramEnvironment['makeStruct']
}

/** Errors of the parser or the checker, with the lines of the expression that they show. */
export class Issues {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const noSizes: SizeOf = () => undefined

export class Expression {
  readonly text: string
  readonly type: CelType
  readonly #checked: CheckedExpr
  readonly #environment: ProgramEnvironment
  readonly #estimates: EstimateRules

  constructor(
    text: string,
    type: CelType,
    checked: CheckedExpr,
    environment: ProgramEnvironment,
    estimates: EstimateRules,
  ) {
    this.text = text
    this.type = type
    this.#checked = checked
    this.#environment = environment
    this.#estimates = estimates
  }

  get isBoolean(): boolean {
    return this.type.kind === boolType.kind
  }

  /** The type of the result as messages of Kubernetes show it. */
  get typeText(): string {
    return typeText(this.type)
  }

  /** Whether the expression reads a variable. */
  uses(variable: string): boolean {
    for (const reference of this.#checked.references.values())
      if (reference.kind === 'ident' && reference.name === variable) return true
    return false
  }

  /** Whether the expression reads a field of a variable. */
  selects(variable: string, field: string): boolean {
    return selectsField(this.#checked.root, variable, field)
  }

  /** The least and the most that an evaluation can cost. Without `sizeOf`, data has no limit. */
  estimate(sizeOf: SizeOf = noSizes): Range {
    return estimateCost(this.#checked, sizeOf, this.#estimates)
  }

  /**
   * Throws PlanError for an expression that can never run, such as one with a wrong regular
   * expression.
   */
  program(): Program {
    return compileProgram(this.#checked, this.#environment)
  }
}

export function compile(
  text: string,
  environment: CelEnvironment,
  declarations: Declarations,
): Expression | Issues {
  const result = parse(text, environment.parsing)
  const { source } = result
  if ('errors' in result) return new Issues(source.format(result.errors))
  const checking = checkEnvironment(environment, declarations)
  const checked = check(result.parsed, checking)
  if ('errors' in checked) return new Issues(source.format(checked.errors))
  const wrong = environment.homogeneousLiterals
    ? []
    : checkLiterals(checked.checked, environment.checksLiterals)
  if (wrong.length > 0) return new Issues(source.format(wrong))
  const { makeStruct } = declarations
  const calls = makeStruct === undefined ? environment.calls : { ...environment.calls, makeStruct }
  return new Expression(text, checked.type, checked.checked, calls, environment.estimates)
}

function checkEnvironment(
  environment: CelEnvironment,
  { variables, types }: Declarations,
): CheckEnvironment {
  return {
    container: '',
    variables,
    functions: environment.functions,
    provider: {
      findType: (name) => types?.findType(name) ?? environment.types.get(name),
      findField: (typeName, field) => types?.findField(typeName, field),
      findEnum: (name) => types?.findEnum?.(name),
    },
    homogeneousLiterals: environment.homogeneousLiterals,
    isDisabled: environment.isDisabled,
    showsEncodedTypes: environment.showsEncodedTypes,
    checksOperatorsAsCalls: environment.checksOperatorsAsCalls,
  }
}

/** Variables whose values are known. */
export function activationOf(values: Readonly<Record<string, Value>>): Activation {
  const byName = new Map(Object.entries(values))
  return { find: (name) => byName.get(name) }
}
