/**
 * Evaluates the match conditions of a webhook. They receive the object in the version that the
 * webhook requires. They are compiled when the first request matches the rules of the webhook.
 */
import type { AdmissionRequest } from '#admission/admission.ts'
import { measureConditions } from '#admission/policy/conditions.ts'
import { RequestDecisions } from '#admission/policy/decisions.ts'
import { RequestValues } from '#admission/policy/request-values.ts'
import { compileConditions } from '#admission/policy/validations.ts'
import { refusal } from '#admission/refusal.ts'
import { releaseOf } from '#api/releases/change.ts'
import {
  type CompiledExpression,
  ExpressionCompiler,
} from '#kinds/admissionregistration/expressions/expression-compiler.ts'
import type { DispatchParts } from './dispatch.ts'
import type { Hook } from './hook.ts'
import type { Versioned } from './versioned.ts'

const compiled = new WeakMap<Hook, readonly CompiledExpression[]>()

function conditionsOf(hook: Hook, release: number): readonly CompiledExpression[] {
  let conditions = compiled.get(hook)
  if (conditions === undefined) {
    const compiler = new ExpressionCompiler(releaseOf(release), false)
    conditions = compileConditions(hook.conditions, false, compiler)
    compiled.set(hook, conditions)
  }
  return conditions
}

export async function hookConditionsMet(
  { authorizer, release, report, meter }: DispatchParts,
  type: 'admit' | 'validating',
  hook: Hook,
  request: AdmissionRequest,
  versioned: Versioned,
): Promise<boolean> {
  const decisions = new RequestDecisions(authorizer, request.user)
  const values = new RequestValues(request, versioned, undefined, decisions, release)
  const scope = { values, variables: new Map(), params: null }
  const { operation } = request
  const owner = { name: hook.name, kind: 'webhook', type, operation } as const
  const { matches, error } = await decisions.during(() =>
    measureConditions(meter(), owner, conditionsOf(hook, release), scope, hook.failsOpen),
  )
  if (error === undefined) return matches
  report(`Failed evaluating match conditions, failing closed ${hook.name}: ${error}`)
  throw refusal(request, error)
}
