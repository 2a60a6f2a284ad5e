/** Compiles a validation rule of a schema: its expression and that of its message. */
import type { Release } from '#api/releases/change.ts'
import { optionalOf } from '#cel/cel-type.ts'
import { compile, type Expression, Issues } from '#cel/compile.ts'
import { type CelEnvironment, celEnvironment, type EnvironmentKind } from '#cel/environment.ts'
import { PlanError } from '#cel/plan-error.ts'
import type { Program } from '#cel/program.ts'
import { type SchemaType, sizesOf, typesOf } from '#cel/schema-type.ts'
import type { JsonSchema, ValidationRule } from '#schema/structural/json-schema.ts'
import { findPath } from './rule-path.ts'

/** The schema that rules are about, with its type. */
export interface RuleScope {
  readonly schema: JsonSchema
  readonly type: SchemaType
  readonly release: Release
}

export interface CompiledExpression {
  readonly program: Program
  /** The most that it can cost. */
  readonly costMax: number
}

export interface CompiledRule {
  /** Undefined if the rule is empty or wrong. */
  readonly expression?: CompiledExpression
  readonly problem?: string
  readonly usesOldSelf: boolean
  readonly message?: CompiledExpression
  readonly messageProblem?: string
  /** The path of the field that the rule is about, relative to the schema. */
  readonly fieldPath?: string
}

/** Which environment an expression is compiled with. */
export type ChooseEnvironment = (text: string, isMessage: boolean) => EnvironmentKind

export const storedEnvironment: ChooseEnvironment = () => 'stored'

class RuleCompiler {
  readonly #scope: RuleScope
  readonly #choose: ChooseEnvironment
  constructor(scope: RuleScope, choose: ChooseEnvironment) {
    this.#scope = scope
    this.#choose = choose
  }

  compile(rule: ValidationRule): CompiledRule {
    if (rule.rule.trim() === '') return { usesOldSelf: false }
    const compiled = this.#expression(rule, rule.rule, false)
    if (compiled instanceof Issues)
      return { problem: `compilation failed: ${compiled.text}`, usesOldSelf: false }
    if (!compiled.isBoolean)
      return { problem: 'cel expression must evaluate to a bool', usesOldSelf: false }
    const usesOldSelf = compiled.uses('oldSelf')
    const expression = this.#plan(compiled)
    if (typeof expression === 'string')
      return { problem: `program instantiation failed: ${expression}`, usesOldSelf }
    return { expression, usesOldSelf, ...this.#message(rule), ...this.#fieldPath(rule) }
  }

  #expression(rule: ValidationRule, text: string, isMessage: boolean): Expression | Issues {
    const { type, release } = this.#scope
    const environment: CelEnvironment = celEnvironment(release, this.#choose(text, isMessage))
    const oldType = rule.optionalOldSelf === true ? optionalOf(type.type) : type.type
    return compile(text, environment, {
      variables: new Map([
        ['self', type.type],
        ['oldSelf', oldType],
      ]),
      types: typesOf(type, environment.compatible),
    })
  }

  #plan(expression: Expression): CompiledExpression | string {
    try {
      const program = expression.program()
      return { program, costMax: expression.estimate(sizesOf(this.#scope.type)).max }
    } catch (error) {
      if (error instanceof PlanError) return error.message
      throw error
    }
  }

  #message(rule: ValidationRule): Pick<CompiledRule, 'message' | 'messageProblem'> {
    const { messageExpression: text } = rule
    if (!text) return {}
    const compiled = this.#expression(rule, text, true)
    if (compiled instanceof Issues)
      return { messageProblem: `messageExpression compilation failed: ${compiled.text}` }
    if (compiled.type.kind !== 'string')
      return { messageProblem: 'messageExpression must evaluate to a string' }
    const message = this.#plan(compiled)
    return typeof message === 'string'
      ? { messageProblem: `messageExpression instantiation failed: ${message}` }
      : { message }
  }

  #fieldPath({ fieldPath }: ValidationRule): Pick<CompiledRule, 'fieldPath'> {
    if (!fieldPath) return {}
    const found = findPath(fieldPath, this.#scope.schema, true)
    return typeof found === 'string' ? {} : { fieldPath: found.path.toString() }
  }
}

export const compileRule = (
  rule: ValidationRule,
  scope: RuleScope,
  choose: ChooseEnvironment,
): CompiledRule => new RuleCompiler(scope, choose).compile(rule)
