/**
 * Expressions of CEL in the configuration of access: they map the claims of a token, check a user,
 * or decide whether a webhook is called. They have no cost limit, because operators write them.
 */
import type { Loose } from '#api/object-meta.ts'
import type { Release } from '#api/releases/change.ts'
import {
  anyType,
  type CelType,
  listOf,
  mapOf,
  objectType,
  stringType,
  type TypeProvider,
} from '#cel/cel-type.ts'
import { activationOf, compile, type Expression, Issues } from '#cel/compile.ts'
import { celEnvironment } from '#cel/environment.ts'
import { jsonView } from '#cel/json-view.ts'
import type { Program } from '#cel/program.ts'
import { CelError, ListValue, type Value } from '#cel/values.ts'

export type ExpressionVariable = 'claims' | 'user' | 'request'

const strings = listOf(stringType)
const extra = mapOf(stringType, strings)
const texts = (...names: string[]) => names.map((name) => [name, stringType] as const)
const requirement = 'kubernetes.SelectorRequirement'
const fieldsOf: Readonly<Record<string, ReadonlyMap<string, CelType>>> = {
  'kubernetes.UserInfo': new Map<string, CelType>([
    ...texts('username', 'uid'),
    ['groups', strings],
    ['extra', extra],
  ]),
  'kubernetes.SubjectAccessReviewSpec': new Map<string, CelType>([
    ['resourceAttributes', objectType('kubernetes.ResourceAttributes')],
    ['nonResourceAttributes', objectType('kubernetes.NonResourceAttributes')],
    ...texts('user', 'uid'),
    ['groups', strings],
    ['extra', extra],
  ]),
  'kubernetes.ResourceAttributes': new Map<string, CelType>([
    ...texts('namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'),
    ['fieldSelector', objectType('kubernetes.FieldSelectorAttributes')],
    ['labelSelector', objectType('kubernetes.LabelSelectorAttributes')],
  ]),
  'kubernetes.NonResourceAttributes': new Map(texts('path', 'verb')),
  'kubernetes.FieldSelectorAttributes': new Map<string, CelType>([
    ...texts('rawSelector'),
    ['requirements', listOf(objectType(requirement))],
  ]),
  'kubernetes.LabelSelectorAttributes': new Map<string, CelType>([
    ...texts('rawSelector'),
    ['requirements', listOf(objectType(requirement))],
  ]),
  [requirement]: new Map<string, CelType>([...texts('key', 'operator'), ['values', strings]]),
}
const types: TypeProvider = {
  findType: (name) => (Object.hasOwn(fieldsOf, name) ? objectType(name) : undefined),
  findField: (name, field) => fieldsOf[name]?.get(field),
}
const typeOfVariable: Readonly<Record<ExpressionVariable, CelType>> = {
  claims: mapOf(stringType, anyType),
  user: objectType('kubernetes.UserInfo'),
  request: objectType('kubernetes.SubjectAccessReviewSpec'),
}

/**
 * Thrown for an expression that cannot be compiled, with the text that a configuration error shows.
 */
export class ExpressionProblem extends Error {}

export class AccessExpression {
  readonly text: string
  readonly #variable: ExpressionVariable
  readonly #expression: Expression
  readonly #program: Program

  /**
   * `wrongType` returns the error for a result that is not a boolean. Without it, any type is
   * allowed.
   */
  constructor(
    text: string,
    variable: ExpressionVariable,
    release: Release,
    wrongType?: (type: string) => string,
  ) {
    const variables = new Map([[variable as string, typeOfVariable[variable]]])
    const compiled = compile(text, celEnvironment(release, 'stored'), { variables, types })
    if (compiled instanceof Issues)
      throw new ExpressionProblem(`compilation failed: ${compiled.text}`)
    if (wrongType !== undefined && !compiled.isBoolean)
      throw new ExpressionProblem(wrongType(compiled.typeText))
    this.text = text
    this.#variable = variable
    this.#expression = compiled
    this.#program = compiled.program()
  }

  selects(field: string): boolean {
    return this.#expression.selects(this.#variable, field)
  }

  /** Returns the value, or the error of the evaluation. */
  evaluate(of: Loose): Value {
    const activation = activationOf({ [this.#variable]: jsonView(of) })
    return this.#program.evaluate(activation, Number.POSITIVE_INFINITY).value
  }
}

/** The non-empty strings of a list or a single string. Throws for other values. */
export function stringsIn(value: Value): string[] {
  if (value === null) return []
  const list = value instanceof ListValue ? [...value] : [value]
  if (value instanceof CelError) throw new Error(value.message)
  if (!list.every((one) => typeof one === 'string'))
    throw new Error('expression must return a string or a list of strings')
  return (list as string[]).filter((one) => one !== '')
}
