/**
 * The interface of a pod security check. It returns the violation in a short and a detailed form,
 * with kube-apiserver's texts. Details name the pod and its containers in the order of the spec.
 */
import { byCodePoint } from '#api/go-syntax.ts'
import type { Loose, ObjectMeta } from '#api/object-meta.ts'
import { containersOf } from '#admission/containers.ts'

export interface FoundProblems {
  readonly reason: string
  readonly detail: string
}
export type PodCheck = (spec: Loose, metadata: ObjectMeta) => FoundProblems | undefined

export const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort(byCodePoint)
export const quoted = (items: readonly string[]): string => `"${items.join('", "')}"`
export const plural = (word: string, { length }: { length: number }): string =>
  length === 1 ? word : `${word}s`
export const named = (word: string, items: readonly string[]): string =>
  `${plural(word, items)} ${quoted(items)}`

export const all = (spec: Loose): Loose[] =>
  [...containersOf(spec)].map(({ container }) => container)
export const namesOf = (containers: readonly Loose[]): string[] =>
  containers.map(({ name }) => name ?? '')
export const namesWhere = (spec: Loose, isBad: (container: Loose) => boolean): string[] =>
  namesOf(all(spec).filter(isBad))

/** A check of single containers. */
export const perContainer =
  (reason: string, isBad: (context: Loose) => boolean, must: string): PodCheck =>
  (spec) => {
    const bad = namesWhere(spec, ({ securityContext }) => isBad(securityContext ?? {}))
    return bad.length === 0 ? undefined : { reason, detail: `${named('container', bad)} ${must}` }
  }

/** The pod itself and its containers, each if it sets a forbidden value. */
export function settersOf(spec: Loose, isBad: (context: Loose) => boolean): string[] {
  const bad = namesWhere(spec, ({ securityContext }) => isBad(securityContext ?? {}))
  return [
    ...(isBad(spec.securityContext ?? {}) ? ['pod'] : []),
    ...(bad.length > 0 ? [named('container', bad)] : []),
  ]
}

/** Whether the pod has its own user namespace. Root inside the pod is then not root on the node. */
export const hasUserNamespace = ({ hostUsers }: Loose): boolean => hostUsers === false
