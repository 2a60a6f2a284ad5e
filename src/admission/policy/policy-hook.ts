/**
 * A parsed policy with its bindings. Its expressions are compiled when a request first matches it.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { type Constraints, constraintsOf } from './constraints.ts'

export interface Binding {
  readonly name: string
  /** Undefined: the binding matches all requests that the policy matches. */
  readonly constraints: Constraints | undefined
  readonly paramRef: Loose | undefined
  readonly actions: readonly string[]
}

export interface PolicyHook<Compiled> {
  readonly name: string
  readonly spec: Loose
  readonly constraints: Constraints
  readonly failsOpen: boolean
  readonly bindings: readonly Binding[]
  readonly compiled: () => Compiled
}

/** A parsed policy without its bindings. */
export type ReadPolicy<Compiled> = Omit<PolicyHook<Compiled>, 'bindings'>

export function readPolicy<Compiled>(
  { metadata, spec = {} }: KubeObject,
  compile: (spec: Loose) => Compiled,
): ReadPolicy<Compiled> {
  let compiled: Compiled | undefined
  return {
    name: metadata.name as string,
    spec,
    constraints: constraintsOf(spec.matchConstraints ?? {}),
    failsOpen: spec.failurePolicy === 'Ignore',
    compiled: () => (compiled ??= compile(spec)),
  }
}

export const readBinding = ({ metadata, spec = {} }: KubeObject): Binding => ({
  name: metadata.name as string,
  constraints: spec.matchResources ? constraintsOf(spec.matchResources) : undefined,
  paramRef: spec.paramRef ?? undefined,
  // Bindings of the first release with policies have no actions.
  actions: spec.validationActions ?? ['Deny'],
})
