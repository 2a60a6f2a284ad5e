/** Binding a pod to a node, as schedulers ask for it: what is wrong with a binding, and what it does to the pod. */
import { type FieldError, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'

export function checkBinding(binding: Loose): FieldError[] {
  const errors: FieldError[] = []
  const target: Loose = binding.target ?? {}
  const path = FieldPath.of('target')
  if (target.kind && target.kind !== 'Node') {
    errors.push(notSupported(path.child('kind'), target.kind, ['Node', '<empty>']))
  }
  if (!target.name) errors.push(required(path.child('name')))
  return errors
}

/** Why a pod cannot be bound any more, in the words of a conflict; undefined when it can. */
export function bindingProblem(pod: KubeObject): string | undefined {
  const { name, deletionTimestamp } = pod.metadata
  if (deletionTimestamp) return `pod ${name} is being deleted, cannot be assigned to a host`
  const { nodeName } = pod.spec
  return nodeName ? `pod ${name} is already assigned to node ${goQuote(nodeName)}` : undefined
}

/** Puts the pod on its node, in place. `now`: RFC 3339, whole seconds. */
export function bindPod(pod: KubeObject, binding: Loose, now: string): void {
  pod.spec.nodeName = binding.target.name
  const added = Object.entries((binding.metadata?.annotations ?? {}) as Record<string, string>)
  if (added.length > 0) {
    const merged = new Map([...Object.entries(pod.metadata.annotations ?? {}), ...added])
    pod.metadata.annotations = Object.fromEntries(merged)
  }
  pod.status ??= {}
  const conditions: Loose[] = pod.status.conditions ?? []
  const old = conditions.find((condition) => condition.type === 'PodScheduled')
  const lastTransitionTime = old?.status === 'True' ? old.lastTransitionTime : now
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime,
  }
  pod.status.conditions =
    old === undefined
      ? [...conditions, scheduled]
      : conditions.map((condition) => (condition === old ? scheduled : condition))
}
