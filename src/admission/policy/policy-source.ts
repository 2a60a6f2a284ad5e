/**
 * The policies with bindings, updated by watches. For each kind, subresource and operation the
 * matching policies are cached. So a request that no policy matches costs one lookup.
 */
import type { AdmissionRequest } from '#admission/admission.ts'
import { isPolicy, isReview } from '#admission/exempt.ts'
import { byCodePoint } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { matchedKind, namesObjects } from './constraints.ts'
import {
  type Binding,
  type PolicyHook,
  readBinding,
  readPolicy,
  type ReadPolicy,
} from './policy-hook.ts'

export type PolicyType = 'mutating' | 'validating'

/** A policy whose rules match the request, and the version of the object that it needs. */
export interface Candidate<Compiled> {
  readonly hook: PolicyHook<Compiled>
  readonly kind: Kind
}

const group = 'admissionregistration.k8s.io'
const plurals = (type: PolicyType) =>
  [`${type}admissionpolicies`, `${type}admissionpolicybindings`] as const

const skipsReviews = change('policies see no reviews of access and tokens', { since: 30 })

export interface PolicySourceOptions<Compiled> {
  readonly type: PolicyType
  readonly release: Release
  readonly compile: (spec: Loose) => Compiled
  /** Called for every new policy. */
  readonly defined?: () => void
}

export class PolicySource<Compiled> {
  readonly #options: PolicySourceOptions<Compiled>
  readonly #policies = new Map<string, ReadPolicy<Compiled>>()
  /** Bindings by policy name, then by their own name. */
  readonly #bindings = new Map<string, Map<string, Binding>>()
  readonly #policyOf = new Map<string, string>()
  /** Policies from manifest files. They run first, and also intercept policies and bindings. */
  #static: readonly PolicyHook<Compiled>[] = []
  #hooks: readonly PolicyHook<Compiled>[] = []
  #candidates = new WeakMap<Kind, Map<string, readonly Candidate<Compiled>[]>>()

  constructor(options: PolicySourceOptions<Compiled>) {
    this.#options = options
  }

  get isEmpty(): boolean {
    return this.#hooks.length === 0
  }

  async follow(reader: ObjectReader): Promise<void> {
    const [policies, bindings] = plurals(this.#options.type)
    await reader.follow(group, policies, {
      changed: (object) => {
        const policy = readPolicy(object, this.#options.compile)
        if (!this.#policies.has(policy.name)) this.#options.defined?.()
        this.#policies.set(policy.name, policy)
        this.#arrange()
      },
      deleted: ({ metadata }) => {
        this.#policies.delete(metadata.name as string)
        this.#arrange()
      },
    })
    await reader.follow(group, bindings, {
      changed: (object) => this.#bind(object),
      deleted: ({ metadata }) => {
        this.#unbind(metadata.name as string)
        this.#arrange()
      },
    })
  }

  /** Replaces the policies of manifests. */
  load(policies: readonly KubeObject[], bindings: readonly KubeObject[]): void {
    this.#static = policies.flatMap((object) => {
      const policy = readPolicy(object, this.#options.compile)
      const bound = bindings.filter(({ spec }) => spec.policyName === policy.name).map(readBinding)
      return bound.length === 0 ? [] : [{ ...policy, bindings: bound }]
    })
    this.#arrange()
  }

  #bind(object: KubeObject): void {
    const binding = readBinding(object)
    this.#unbind(binding.name)
    const policy: string = object.spec?.policyName ?? ''
    this.#policyOf.set(binding.name, policy)
    const bound = this.#bindings.get(policy) ?? new Map<string, Binding>()
    bound.set(binding.name, binding)
    this.#bindings.set(policy, bound)
    this.#arrange()
  }

  #unbind(name: string): void {
    const policy = this.#policyOf.get(name)
    if (policy === undefined) return
    this.#policyOf.delete(name)
    const bound = this.#bindings.get(policy)
    bound?.delete(name)
    if (bound?.size === 0) this.#bindings.delete(policy)
  }

  #arrange(): void {
    const ofApi = [...this.#policies.values()]
      .filter(({ name }) => this.#bindings.has(name))
      .sort((a, b) => byCodePoint(a.name, b.name))
      .map((policy) => ({ ...policy, bindings: this.#bindingsOf(policy.name) }))
    this.#hooks = [...this.#static, ...ofApi]
    this.#candidates = new WeakMap()
  }

  /**
   * Only policies from manifests intercept requests for policies, because the API cannot remove
   * those.
   */
  #hooksFor(kind: Kind): readonly PolicyHook<Compiled>[] {
    if (isPolicy(kind)) return this.#static
    return isReview(kind) && this.#options.release.has(skipsReviews) ? [] : this.#hooks
  }

  #bindingsOf(policy: string): Binding[] {
    const bound = [...(this.#bindings.get(policy)?.values() ?? [])]
    return bound.sort((a, b) => byCodePoint(a.name, b.name))
  }

  /**
   * The policies whose rules match the request, sorted by name. Selectors are not evaluated here.
   */
  candidates(request: AdmissionRequest): readonly Candidate<Compiled>[] {
    const { kind, operation, subresource } = request
    let known = this.#candidates.get(kind)
    if (known === undefined) this.#candidates.set(kind, (known = new Map()))
    // A namespaced object always has a namespace. Only requests for namespaces can have one or
    // none.
    const key = `${operation} ${subresource} ${request.namespace === ''}`
    let found = known.get(key)
    if (found === undefined) {
      found = this.#hooksFor(kind).flatMap((hook) => {
        if (namesObjects(hook.constraints)) return [{ hook, kind }]
        const matched = matchedKind(hook.constraints, request)
        return matched === undefined ? [] : [{ hook, kind: matched }]
      })
      known.set(key, found)
    }
    return found.some(({ hook }) => namesObjects(hook.constraints))
      ? found.flatMap((one) => {
          if (!namesObjects(one.hook.constraints)) return [one]
          const matched = matchedKind(one.hook.constraints, request)
          return matched === undefined ? [] : [{ hook: one.hook, kind: matched }]
        })
      : found
  }
}
