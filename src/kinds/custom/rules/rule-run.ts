/**
 * One evaluation of validation rules on an object. Collects errors and warnings and tracks the
 * remaining cost budget.
 */
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  required,
  unshown,
} from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { type ReleaseChange, change, type Release } from '#api/releases/change.ts'
import type { Activation } from '#cel/frame.ts'
import { costExceeded } from '#cel/program.ts'
import type { ListRules } from '#cel/schema-lists.ts'
import { schemaView } from '#cel/schema-view.ts'
import { isError, Optional, type Value } from '#cel/values.ts'
import { SharedWork } from '#cel/work.ts'
import type { JsonSchema, ValidationRule } from '#schema/structural/json-schema.ts'
import type { CompiledRule } from './compile-rule.ts'

/** Cost limits of one expression, and of all expressions on an object. */
const costPerCallMax = 1_000_000
export const costPerObjectMax = 10_000_000
/** Limit of the length of a message from messageExpression. */
const messageBytesMax = 5 * 1024

const comparesValues = change(
  'rules compare the elements of lists of type set and map that were added as values',
  { since: 37 },
)
const showsScalars = change('errors of validation rules show the value of scalars', { since: 35 })

const outOfBudget =
  'validation failed due to running out of cost budget, no further validation rules will be run'

/** Thrown when the cost budget is used up. */
export class BudgetSpent {}

/** The variables of the rules of one schema. */
export interface RuleSubject {
  readonly path: FieldPath
  readonly schema: JsonSchema
  readonly isRoot: boolean
  readonly value: Json
  /** Undefined if there is no value before the update to compare with. */
  readonly old: Json | undefined
  /** The value did not change, so that a failure is only a warning. */
  isUnchanged(): boolean
}

interface ActivationOptions {
  readonly lists: ListRules
  /** Without a rule that reads oldSelf no message of the schema has it. */
  readonly hasOldSelf: boolean
  readonly isOptional: boolean
}

class RuleActivation implements Activation {
  readonly #subject: RuleSubject
  readonly #options: ActivationOptions
  readonly #self: Value
  constructor(subject: RuleSubject, options: ActivationOptions) {
    this.#subject = subject
    this.#options = options
    this.#self = schemaView(subject.value, subject.schema, subject.isRoot, options.lists)
  }

  find(name: string): Value | undefined {
    if (name === 'self') return this.#self
    const { lists, hasOldSelf, isOptional } = this.#options
    if (name !== 'oldSelf' || !hasOldSelf) return undefined
    const { old, schema, isRoot } = this.#subject
    if (old === undefined) return isOptional ? Optional.none : undefined
    const value = schemaView(old, schema, isRoot, lists)
    return isOptional ? new Optional(value) : value
  }
}

export class RuleRun {
  readonly errors: FieldError[] = []
  readonly #release: Release
  readonly #ratchets: boolean
  readonly #warn: (warning: string) => void
  readonly #lists: ListRules
  readonly #work = new SharedWork()
  #budget: number

  constructor(
    release: Release,
    ratchets: boolean,
    warn: (warning: string) => void,
    budget = costPerObjectMax,
  ) {
    this.#release = release
    this.#lists = { comparesValues: release.has(comparesValues) }
    this.#ratchets = ratchets
    this.#warn = warn
    this.#budget = budget
  }

  get budget(): number {
    return this.#budget
  }

  /** Evaluates the rules of a schema. Throws BudgetSpent. */
  check(rules: readonly ValidationRule[], compiled: readonly CompiledRule[], subject: RuleSubject) {
    if (this.#budget <= 0) this.#stop(subject, outOfBudget)
    const hasOldSelf = compiled.some(({ usesOldSelf }) => usesOldSelf)
    const options = { lists: this.#lists, hasOldSelf }
    const plain = new RuleActivation(subject, { ...options, isOptional: false })
    for (const [at, rule] of rules.entries()) {
      const one = compiled[at] as CompiledRule
      if (one.problem !== undefined) {
        this.#fail(subject, `rule compile error: ${one.problem}`)
        continue
      }
      if (one.expression === undefined) continue
      const isOptional = rule.optionalOldSelf === true
      const hasOld = subject.old !== undefined && subject.old !== null
      if (one.usesOldSelf && !hasOld && !(this.#ratchets && isOptional)) continue
      const activation = isOptional
        ? new RuleActivation(subject, { ...options, isOptional })
        : plain
      this.#evaluate(rule, one, subject, activation, plain)
    }
  }

  #evaluate(
    rule: ValidationRule,
    compiled: CompiledRule,
    subject: RuleSubject,
    activation: Activation,
    plain: Activation,
  ): void {
    const { expression } = compiled as Required<CompiledRule>
    const { value, cost } = this.#work.run(() =>
      expression.program.evaluate(activation, costPerCallMax),
    )
    if (cost > this.#budget) this.#stop(subject, outOfBudget)
    this.#budget -= cost
    if (value === true) return
    if (value === costExceeded) {
      const why = 'no further validation rules will be run due to call cost exceeds limit for rule'
      this.#stop(subject, `'${costExceeded.message}': ${why}: ${ruleText(rule)}`)
    }
    if (isError(value)) {
      this.#fail(subject, evaluationProblem(value.message, rule))
      return
    }
    this.#report(rule, compiled, subject, plain)
  }

  /** The error of a rule that is false. */
  #report(
    rule: ValidationRule,
    compiled: CompiledRule,
    subject: RuleSubject,
    activation: Activation,
  ): void {
    const { fieldPath } = compiled
    const path = fieldPath === undefined ? subject.path : subject.path.child(fieldPath)
    const add = (error: FieldError) => {
      if (this.#ratchets && !compiled.usesOldSelf && subject.isUnchanged())
        this.#warn(`${error.field}: ${error.message}`)
      else this.errors.push(error)
    }
    const made = this.#message(rule, compiled, activation)
    if (made.problem !== undefined) {
      add(invalid(path, subject.schema.type ?? '', made.problem))
      throw new BudgetSpent()
    }
    const detail = made.text ?? messageOf(rule)
    add(errorOf(rule.reason, path, this.#shown(subject), detail))
  }

  #shown({ schema, value }: RuleSubject): unknown {
    const { type = '' } = schema
    if (!this.#has(showsScalars)) return type
    return type === 'object' || type === 'array' ? unshown : value
  }

  #has(change: ReleaseChange): boolean {
    return this.#release.has(change)
  }

  /**
   * The text of a message expression; neither text nor problem if it failed or made no usable text.
   */
  #message(
    { messageExpression = '' }: ValidationRule,
    { message }: CompiledRule,
    activation: Activation,
  ): { text?: string; problem?: string } {
    if (message === undefined) return {}
    const { value, cost } = this.#work.run(() =>
      message.program.evaluate(activation, costPerCallMax),
    )
    if (cost > this.#budget)
      return {
        problem:
          'messageExpression evaluation failed due to running out of cost budget, ' +
          'no further validation rules will be run',
      }
    if (value === costExceeded) {
      const why = 'no further validation rules will be run due to call cost exceeds limit for'
      return { problem: `${why} messageExpression: ${goQuote(messageExpression)}` }
    }
    this.#budget -= cost
    if (typeof value !== 'string') return {}
    const text = value.trim()
    const isUsable =
      text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= messageBytesMax
    return isUsable ? { text } : {}
  }

  #fail({ path, schema }: RuleSubject, detail: string): void {
    this.errors.push(invalid(path, schema.type ?? '', detail))
  }

  #stop(subject: RuleSubject, detail: string): never {
    this.#fail(subject, detail)
    throw new BudgetSpent()
  }
}

function evaluationProblem(message: string, rule: ValidationRule): string {
  if (!message.startsWith('no such overload'))
    return `${message} evaluating rule: ${ruleText(rule)}`
  const why = 'call arguments did not match a supported operator, function or macro signature'
  return `'${message}': ${why} for rule: ${ruleText(rule)}`
}

/** The text that identifies a rule in errors. */
const ruleText = ({ rule, message }: ValidationRule): string => (message || rule).trim()

const messageOf = (rule: ValidationRule): string =>
  rule.message ? rule.message.trim() : `failed rule: ${ruleText(rule)}`

function errorOf(reason: string | undefined, path: FieldPath, value: unknown, detail: string) {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(path, detail)
    case 'FieldValueRequired':
      return required(path, detail)
    case 'FieldValueDuplicate':
      return duplicate(path, value)
  }
  return invalid(path, value, detail)
}
