/**
 * The MutatingAdmissionPolicy plugin. Policies are matched with the object as the plugin receives
 * it. Their mutations run in sequence, each on the result of the previous one. A policy with
 * reinvocationPolicy IfNeeded runs again if the object changed after its run.
 */
import type { AdmissionPlugin, AdmissionRequest } from '#admission/admission.ts'
import { refusal } from '#admission/refusal.ts'
import { copyIntoRequest, type TypeParts } from '#admission/webhook/versioned.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import { ApiError } from '#api/status-error.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { measureConditions } from './conditions.ts'
import { Dispatch, type PolicyParts } from './dispatch.ts'
import { OutOfBudget } from './evaluation.ts'
import { type CompiledMutations, mutated, MutationFailed } from './mutations.ts'
import {
  Misconfigured,
  mutationParameterValue,
  type Parameter,
  parametersOf,
} from './parameters.ts'
import type { Binding, PolicyHook } from './policy-hook.ts'
import type { Candidate, PolicySource } from './policy-source.ts'
import type { RequestValues } from './request-values.ts'

export type MutatingSource = PolicySource<CompiledMutations>
export type MutatingParts = PolicyParts & { readonly types: TypeParts['types'] }
type Hook = PolicyHook<CompiledMutations>

/** State that the first round passes to the reinvocation round. */
interface Rounds {
  /** The object after the last policy, to detect later changes by other plugins. */
  output: KubeObject | undefined
  readonly invoked: Set<string>
  readonly again: Set<string>
}

export function mutatingPolicies(parts: MutatingParts, source: MutatingSource): AdmissionPlugin {
  const rounds = new WeakMap<AdmissionRequest, Rounds>()
  return {
    name: 'MutatingAdmissionPolicy',
    mutate(request, reader) {
      if (request.operation === 'DELETE') return
      const candidates = source.candidates(request)
      if (candidates.length === 0) return
      let state = rounds.get(request)
      if (state === undefined) {
        state = { output: undefined, invoked: new Set(), again: new Set() }
        rounds.set(request, state)
      }
      const dispatch = new Dispatch(parts, request, reader)
      return new Run(parts, dispatch, state, reader).all(candidates)
    },
  }
}

interface Invocation {
  readonly hook: Hook
  readonly binding: Binding
  readonly kind: Kind
  readonly parameter: Parameter
}

interface PolicyProblem {
  readonly message: string
  readonly reason: string
}

const keyOf = ({ hook, binding, parameter }: Invocation): string =>
  JSON.stringify([hook.name, binding.name, parameter.namespace, parameter.name])

class Run {
  readonly #types: TypeParts
  readonly #dispatch: Dispatch
  readonly #reader: ObjectReader
  readonly #request: AdmissionRequest
  readonly #rounds: Rounds
  readonly #problems: PolicyProblem[] = []

  constructor(parts: MutatingParts, dispatch: Dispatch, rounds: Rounds, reader: ObjectReader) {
    this.#types = { types: parts.types, release: parts.release.minor }
    this.#dispatch = dispatch
    this.#reader = reader
    this.#request = dispatch.request
    this.#rounds = rounds
  }

  async all(candidates: readonly Candidate<CompiledMutations>[]): Promise<void> {
    const invocations: Invocation[] = []
    for (const candidate of candidates) invocations.push(...(await this.#invocations(candidate)))
    if (invocations.length > 0) await this.#invokeAll(invocations)
    const [first] = this.#problems
    if (first !== undefined) throw this.#refusal(first)
  }

  async #invocations({ hook, kind }: Candidate<CompiledMutations>): Promise<Invocation[]> {
    const dispatch = this.#dispatch
    const paramKind = await this.#unlessMisconfigured(hook, undefined, async () => {
      if (!(await dispatch.isSelected(hook.constraints))) return undefined
      return { kind: dispatch.paramKindOf(hook) }
    })
    if (paramKind === undefined) return []
    const invocations: Invocation[] = []
    for (const binding of hook.bindings) {
      const parameters = await this.#unlessMisconfigured(hook, binding, async () =>
        (await dispatch.isBound(binding.constraints))
          ? parametersOf(paramKind.kind, binding.paramRef, this.#request.namespace, this.#reader)
          : undefined,
      )
      for (const parameter of parameters ?? []) invocations.push({ hook, binding, kind, parameter })
    }
    return invocations
  }

  async #unlessMisconfigured<T>(
    hook: Hook,
    binding: Binding | undefined,
    run: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof Misconfigured || error instanceof ApiError)) throw error
      const what = binding === undefined ? 'policy' : 'binding'
      this.#problem(hook, binding, `failed to configure ${what}: ${error.message}`, 'Forbidden')
      return undefined
    }
  }

  #problem(hook: Hook, binding: Binding | undefined, why: string, reason: string): void {
    if (hook.failsOpen) return
    const by =
      binding === undefined
        ? `policy ${goQuote(hook.name)}`
        : `policy '${hook.name}' with binding '${binding.name}'`
    this.#problems.push({ message: `${by} denied request: ${why}`, reason })
  }

  async #invokeAll(invocations: readonly Invocation[]): Promise<void> {
    const request = this.#request
    const rounds = this.#rounds
    const isSecond = request.round === 1
    if (isSecond && !semanticEqual(rounds.output, request.object)) this.#invokeAgain()
    let last: RequestValues | undefined
    for (const invocation of invocations) {
      const values = await this.#dispatch.valuesOf(invocation.kind)
      if (!(await this.#isMet(invocation, values))) continue
      if (isSecond && !rounds.again.has(keyOf(invocation))) continue
      const before = values.versioned.object
      if (before !== undefined) last = values
      await this.#mutate(invocation, values)
      if (!semanticEqual(before, values.versioned.object)) {
        this.#invokeAgain()
        request.reinvoke = true
      }
      if (invocation.hook.compiled().reinvocable) rounds.invoked.add(keyOf(invocation))
    }
    if (last?.versioned.dirty === true) {
      this.#invokeAgain()
      request.reinvoke = true
      await copyIntoRequest(this.#types, request, last.versioned)
    }
    rounds.output = request.object && structuredClone(request.object)
  }

  #invokeAgain(): void {
    for (const key of this.#rounds.invoked) this.#rounds.again.add(key)
    this.#rounds.invoked.clear()
  }

  #scope({ hook, parameter }: Invocation, values: RequestValues) {
    const { variables } = hook.compiled()
    const params = mutationParameterValue(parameter, this.#types.release)
    return { values, variables, params, authorizer: true }
  }

  async #isMet(invocation: Invocation, values: RequestValues): Promise<boolean> {
    const { hook, binding } = invocation
    const { conditions } = hook.compiled()
    if (conditions.length === 0) return true
    const { meter } = this.#dispatch
    const { operation } = this.#request
    // kube-apiserver uses this type label for both kinds of policies.
    const owner = { name: hook.name, kind: 'policy', type: 'validate', operation } as const
    const { matches, error } = await this.#dispatch.withDecisions(() =>
      measureConditions(meter, owner, conditions, this.#scope(invocation, values), hook.failsOpen),
    )
    if (error !== undefined) this.#problem(hook, binding, error, 'Invalid')
    return matches
  }

  async #mutate(invocation: Invocation, values: RequestValues): Promise<void> {
    const { hook, binding } = invocation
    const { meter, turns } = this.#dispatch
    const { versioned } = values
    for (const mutation of hook.compiled().mutations) {
      if (versioned.object === undefined) return
      const began = meter.monotonicMs()
      const observe = (passed: boolean, message = '') => {
        const tookMs = meter.monotonicMs() - began
        meter.mutation(hook.name, binding.name, { passed, message, tookMs })
      }
      try {
        versioned.object = await this.#dispatch.withDecisions(() =>
          mutated(
            this.#types,
            mutation,
            this.#scope(invocation, values),
            versioned,
            this.#request.kind,
          ),
        )
        values.forgetObject()
        observe(true)
        if (turns.over) await turns.next()
      } catch (error) {
        observe(false, (error as Error).message)
        const isProblem = error instanceof MutationFailed || error instanceof OutOfBudget
        if (!isProblem) throw error
        this.#problem(hook, binding, error.message, 'Invalid')
      }
    }
  }

  /** The message has the first problem, the causes have all. */
  #refusal({ message, reason }: PolicyProblem): ApiError {
    const { code, details } = refusal(this.#request, '')
    const causes = this.#problems.map((problem) => ({ message: problem.message }))
    return new ApiError(code, reason, message, { ...details, causes })
  }
}
