/**
 * The ValidatingAdmissionPolicy plugin evaluates all expressions of all bound policies. The actions
 * of the binding determine the effect of a failure: it denies the request, warns the client, or
 * adds an audit annotation.
 */
import type { AdmissionPlugin, AdmissionRequest } from '#admission/admission.ts'
import { refusal } from '#admission/refusal.ts'
import { goJson } from '#kinds/all-kinds/annotations.ts'
import type { Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { after, type Awaitable } from '#base/awaitable.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { Dispatch, type PolicyParts } from './dispatch.ts'
import { Misconfigured, parametersOf, parameterValue } from './parameters.ts'
import type { Binding, PolicyHook } from './policy-hook.ts'
import type { CheckAction } from './policy-meter.ts'
import type { Candidate, PolicySource } from './policy-source.ts'
import {
  type AnnotationResult,
  type CompiledValidations,
  type Decision,
  validate,
} from './validations.ts'

export type ValidatingSource = PolicySource<CompiledValidations>

export function validatingPolicies(parts: PolicyParts, source: ValidatingSource): AdmissionPlugin {
  return {
    name: 'ValidatingAdmissionPolicy',
    validate(request, reader) {
      const candidates = source.candidates(request)
      if (candidates.length === 0) return
      return new Run(new Dispatch(parts, request, reader), reader).all(candidates)
    },
  }
}

interface Denial {
  readonly reason: string
  readonly message: string
}

/** How metrics name the actions of bindings. */
const checkActions: Readonly<Record<string, CheckAction>> = {
  Deny: 'deny',
  Warn: 'warn',
  Audit: 'audit',
}

/**
 * Limits of the number and size of failures in an audit annotation, which keep audit events small.
 */
const failuresNotedMax = 50
const annotationBytesMax = 10 * 1024

class Run {
  readonly #dispatch: Dispatch
  readonly #reader: ObjectReader
  readonly #request: AdmissionRequest
  readonly #denials: Denial[] = []
  readonly #failures: Loose[] = []

  constructor(dispatch: Dispatch, reader: ObjectReader) {
    this.#dispatch = dispatch
    this.#reader = reader
    this.#request = dispatch.request
  }

  async all(candidates: readonly Candidate<CompiledValidations>[]): Promise<void> {
    for (const candidate of candidates) await this.#policy(candidate)
    const { auditAnnotations } = this.#request
    if (this.#failures.length > 0)
      auditAnnotations.set(
        'validation.policy.admission.k8s.io/validation_failure',
        goJson(this.#failures.slice(0, failuresNotedMax)),
      )
    const [first] = this.#denials
    if (first !== undefined) throw refusalOf(this.#request, first)
  }

  async #policy({ hook, kind }: Candidate<CompiledValidations>): Promise<void> {
    const dispatch = this.#dispatch
    const paramKind = await this.#unlessMisconfigured(hook, undefined, () =>
      after(dispatch.isSelected(hook.constraints), (isSelected) =>
        isSelected ? { kind: dispatch.paramKindOf(hook) } : undefined,
      ),
    )
    if (paramKind === undefined) return
    const annotations = new Map<string, Set<string>>()
    for (const binding of hook.bindings) {
      const params = await this.#unlessMisconfigured(hook, binding, () =>
        after(dispatch.isBound(binding.constraints), (isBound) =>
          isBound
            ? parametersOf(paramKind.kind, binding.paramRef, this.#request.namespace, this.#reader)
            : undefined,
        ),
      )
      if (params === undefined || params.length === 0) continue
      const values = await dispatch.valuesOf(kind)
      const { name, failsOpen } = hook
      const { meter, turns } = dispatch
      for (const parameter of params) {
        const value = parameterValue(parameter)
        const result = await dispatch.withDecisions(() =>
          validate(hook.compiled(), values, value, { name, failsOpen, meter, turns }),
        )
        for (const [i, decision] of result.decisions.entries())
          this.#act(hook, binding, decision, i)
        for (const annotation of result.annotations)
          this.#annotate(hook, binding, annotation, annotations)
      }
    }
    for (const [key, found] of annotations) this.#note(`${hook.name}/${key}`, [...found].join(', '))
  }

  /** An invalid policy denies the request, unless its failure policy is Ignore. */
  #unlessMisconfigured<T>(
    hook: PolicyHook<unknown>,
    binding: Binding | undefined,
    run: () => Awaitable<T>,
  ): Awaitable<T | undefined> {
    const misconfigured = (error: unknown): undefined => {
      if (!(error instanceof Misconfigured || error instanceof ApiError)) throw error
      if (hook.failsOpen) return
      const what = binding === undefined ? 'policy' : 'binding'
      this.#deny(hook, binding, `failed to configure ${what}: ${error.message}`)
    }
    try {
      const result = run()
      return result instanceof Promise ? result.catch(misconfigured) : result
    } catch (error) {
      return misconfigured(error)
    }
  }

  #deny(hook: PolicyHook<unknown>, binding: Binding | undefined, why: string, reason = ''): void {
    const by = binding === undefined ? '' : ` with binding '${binding.name}'`
    const message = `ValidatingAdmissionPolicy '${hook.name}'${by} denied request: ${why}`
    this.#denials.push({ reason: reason || 'Invalid', message })
  }

  #act(hook: PolicyHook<unknown>, binding: Binding, decision: Decision, index: number): void {
    const { meter } = this.#dispatch
    const { message, reason, denies, failed, tookMs } = decision
    const observe = (action: CheckAction) =>
      meter.validation(hook.name, binding.name, action, { passed: false, message, tookMs })
    if (!denies) {
      if (failed) observe('allow')
      return
    }
    const { actions } = binding
    for (const action of actions) {
      const noted = checkActions[action]
      if (noted !== undefined) observe(noted)
      if (action === 'Deny') this.#deny(hook, binding, message, reason)
      else if (action === 'Warn')
        this.#request.warnings.push(
          `Validation failed for ValidatingAdmissionPolicy '${hook.name}' with binding '${binding.name}': ${message}`,
        )
      else if (action === 'Audit')
        this.#failures.push({
          message,
          policy: hook.name,
          binding: binding.name,
          expressionIndex: index,
          validationActions: actions,
        })
    }
  }

  #annotate(
    hook: PolicyHook<unknown>,
    binding: Binding,
    { key, value, error, tookMs = 0 }: AnnotationResult,
    found: Map<string, Set<string>>,
  ): void {
    if (error !== undefined) {
      this.#deny(hook, binding, error)
      const check = { passed: false, message: error, tookMs }
      this.#dispatch.meter.validation(hook.name, binding.name, 'deny', check)
    }
    if (value === undefined) return
    const bytes = Buffer.from(value)
    const kept = bytes.length > annotationBytesMax ? bytes.subarray(0, annotationBytesMax) : bytes
    const values = found.get(key) ?? new Set()
    values.add(kept.toString())
    found.set(key, values)
  }

  #note(key: string, value: string): void {
    const { auditAnnotations } = this.#request
    if (!auditAnnotations.has(key)) auditAnnotations.set(key, value)
  }
}

const codes: Readonly<Record<string, number>> = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
}

function refusalOf(request: AdmissionRequest, { reason, message }: Denial): ApiError {
  const { message: whole, details } = refusal(request, message)
  const causes = [{ message }]
  return new ApiError(codes[reason] ?? 422, reason, whole, { ...details, causes })
}
