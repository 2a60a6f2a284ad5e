/**
 * The compiled expressions of a ValidatingAdmissionPolicy, and their results for one request and
 * one parameter. A result has a decision for each validation and a value for each audit annotation.
 */
import type { Loose } from '#api/object-meta.ts'
import type { Release } from '#api/releases/change.ts'
import type { Turns } from '#base/turns.ts'

import type { Value } from '#cel/values.ts'
import { typeName } from '#cel/values.ts'
import {
  type CompiledExpression,
  ExpressionCompiler,
  results,
} from '#kinds/admissionregistration/expressions/expression-compiler.ts'
import { measureConditions } from './conditions.ts'
import { costBudget, Evaluation, type Evaluated, OutOfBudget } from './evaluation.ts'
import type { PolicyMeter } from './policy-meter.ts'
import type { RequestValues } from './request-values.ts'

interface CompiledValidation {
  readonly expression: CompiledExpression
  readonly messageExpression: CompiledExpression | undefined
  readonly message: string
  readonly reason: string
}

export interface CompiledValidations {
  readonly variables: ReadonlyMap<string, CompiledExpression>
  readonly conditions: readonly CompiledExpression[]
  readonly validations: readonly CompiledValidation[]
  readonly annotations: readonly { key: string; expression: CompiledExpression }[]
}

export function compileVariables(
  spec: Loose,
  compiler: ExpressionCompiler,
): Map<string, CompiledExpression> {
  const options = { params: Boolean(spec.paramKind), authorizer: true }
  const variables = new Map<string, CompiledExpression>()
  for (const { name, expression } of (spec.variables ?? []) as Loose[])
    variables.set(name, compiler.addVariable(name, expression, options, 'stored'))
  return variables
}

export const compileConditions = (
  conditions: readonly Loose[] | undefined,
  params: boolean,
  compiler: ExpressionCompiler,
): CompiledExpression[] =>
  (conditions ?? []).map(({ expression }) =>
    compiler.compile(expression, results.bool, { params, authorizer: true }, 'stored'),
  )

export function compileValidations(spec: Loose, release: Release): CompiledValidations {
  const compiler = new ExpressionCompiler(release, true)
  const variables = compileVariables(spec, compiler)
  const params = Boolean(spec.paramKind)
  const options = { params, authorizer: true }
  const messages = { params, authorizer: false }
  return {
    variables,
    conditions: compileConditions(spec.matchConditions, params, compiler),
    validations: ((spec.validations ?? []) as Loose[]).map(
      ({ expression, messageExpression, message = '', reason = '' }) => ({
        expression: compiler.compile(expression, results.bool, options, 'stored'),
        messageExpression: messageExpression
          ? compiler.compile(messageExpression, results.text, messages, 'stored')
          : undefined,
        message: (message ?? '').trim(),
        reason: reason ?? '',
      }),
    ),
    annotations: ((spec.auditAnnotations ?? []) as Loose[]).map(({ key, valueExpression }) => ({
      key,
      expression: compiler.compile(valueExpression, results.textOrNull, options, 'stored'),
    })),
  }
}

export interface Decision {
  readonly denies: boolean
  /** Whether the evaluation failed. */
  readonly failed: boolean
  readonly reason: string
  readonly message: string
  readonly tookMs: number
}

export interface AnnotationResult {
  readonly key: string
  /** Undefined if there is no annotation. */
  readonly value?: string
  /** Whether the request is denied whatever the binding's actions are. */
  readonly error?: string
  readonly tookMs?: number
}

export interface ValidationResult {
  readonly decisions: readonly Decision[]
  readonly annotations: readonly AnnotationResult[]
}

const admits: Decision = { denies: false, failed: false, reason: '', message: '', tookMs: 0 }

/** The policy of a validation. */
export interface ValidatedPolicy {
  readonly name: string
  readonly failsOpen: boolean
  readonly meter: PolicyMeter
  readonly turns: Turns
}

/** Throws PendingDecision. Other requests run between two expressions that take long. */
export async function validate(
  compiled: CompiledValidations,
  values: RequestValues,
  params: Value,
  policy: ValidatedPolicy,
): Promise<ValidationResult> {
  const { name, failsOpen, meter, turns } = policy
  const { variables, conditions } = compiled
  const failure = (message: string, tookMs = 0): Decision => ({
    denies: !failsOpen,
    failed: true,
    reason: '',
    message,
    tookMs,
  })
  const scope = { values, variables, params }
  values.useTypes()
  if (conditions.length > 0) {
    const { operation } = values.request
    const owner = { name, kind: 'policy', type: 'validate', operation } as const
    const { matches, error } = measureConditions(meter, owner, conditions, scope, failsOpen)
    if (error !== undefined) return { decisions: [failure(error)], annotations: [] }
    if (!matches) return { decisions: [], annotations: [] }
  }
  try {
    const evaluation = new Evaluation({ ...scope, authorizer: true }, costBudget)
    const evaluated: Measured[] = []
    for (const { expression } of compiled.validations) {
      evaluated.push(measured(evaluation, expression, meter))
      if (turns.over) await turns.next()
    }
    const messages = await messagesOf(compiled, scope, evaluated, evaluation.budget, turns)
    const decisions = compiled.validations.map((validation, i) =>
      decide(validation, evaluated[i] as Measured, messages, i, failure),
    )
    return { decisions, annotations: await annotationsOf(compiled, scope, policy) }
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error
    return { decisions: [failure(error.message)], annotations: [] }
  }
}

type Measured = Evaluated & { readonly tookMs: number }

function measured(
  evaluation: Evaluation,
  expression: CompiledExpression,
  { monotonicMs }: PolicyMeter,
): Measured {
  const began = monotonicMs()
  const result = evaluation.evaluate(expression)
  return { ...result, tookMs: monotonicMs() - began }
}

interface Scope {
  readonly values: RequestValues
  readonly variables: ReadonlyMap<string, CompiledExpression>
  readonly params: Value
}

type Messages = readonly (Evaluated | undefined)[] | OutOfBudget

/** With at most this many calls the budget suffices, whatever each call costs. */
const callsWithinBudget = 9

/**
 * The values of the message expressions, or the error. They are needed only if a validation fails,
 * unless they could use up the budget: then the request fails without them.
 */
async function messagesOf(
  { validations, variables }: CompiledValidations,
  scope: Scope,
  evaluated: readonly Evaluated[],
  budget: number,
  turns: Turns,
): Promise<Messages> {
  const expressions = validations.map(({ messageExpression }) => messageExpression)
  const callsMax = variables.size + expressions.filter((one) => one !== undefined).length
  const areTrue = evaluated.every((result) => 'value' in result && result.value === true)
  if (areTrue && callsMax <= callsWithinBudget && budget * 10 >= costBudget * callsMax) return []
  const evaluation = new Evaluation({ ...scope, authorizer: false }, budget)
  try {
    const messages: (Evaluated | undefined)[] = []
    for (const one of expressions) {
      messages.push(one && evaluation.evaluate(one))
      if (turns.over) await turns.next()
    }
    return messages
  } catch (error) {
    if (error instanceof OutOfBudget) return error
    throw error
  }
}

function decide(
  { expression, message, reason }: CompiledValidation,
  result: Measured,
  messages: Messages,
  index: number,
  failure: (message: string, tookMs: number) => Decision,
): Decision {
  const { tookMs } = result
  if ('error' in result) return failure(result.error, tookMs)
  if (messages instanceof OutOfBudget)
    return failure(`failed messageExpression: ${messages.message}`, tookMs)
  if (result.value === true) return admits
  const shown =
    usableMessage(messages[index]) || message || `failed expression: ${expression.text.trim()}`
  return { denies: true, failed: false, reason, message: shown, tookMs }
}

/** The maximum length of a message. */
const messageBytesMax = 5 * 1024

function usableMessage(made: Evaluated | undefined): string {
  if (made === undefined || 'error' in made || typeof made.value !== 'string') return ''
  const text = made.value.trim()
  return text.includes('\n') || Buffer.byteLength(text) > messageBytesMax ? '' : text
}

/** Throws OutOfBudget. */
async function annotationsOf(
  { annotations }: CompiledValidations,
  scope: Scope,
  { failsOpen, meter, turns }: ValidatedPolicy,
): Promise<AnnotationResult[]> {
  if (annotations.length === 0) return []
  const evaluation = new Evaluation({ ...scope, authorizer: false }, costBudget)
  const results: AnnotationResult[] = []
  for (const { key, expression } of annotations) {
    const result = measured(evaluation, expression, meter)
    results.push(annotationOf(key, expression, result, failsOpen))
    if (turns.over) await turns.next()
  }
  return results
}

function annotationOf(
  key: string,
  { text: expression }: CompiledExpression,
  result: Measured,
  failsOpen: boolean,
): AnnotationResult {
  const { tookMs } = result
  if ('error' in result) return failsOpen ? { key } : { key, error: result.error, tookMs }
  const { value } = result
  if (value === null) return { key }
  if (typeof value === 'string') {
    const text = value.trim()
    return text === '' ? { key } : { key, value: text }
  }
  const error = `valueExpression '${expression}' resulted in unsupported return type: ${typeName(value)}. Return type must be either string or null.`
  return { key, error, tookMs }
}
