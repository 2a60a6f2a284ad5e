/**
 * Every container of a pod with its field path, in kube-apiserver's order: init, ordinary,
 * ephemeral.
 */
import type { Loose } from '#api/object-meta.ts'

export function* containersOf(spec: Loose): Generator<{ container: Loose; path: string }> {
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const [i, container] of ((spec[list] ?? []) as Loose[]).entries()) {
      yield { container, path: `spec.${list}[${i}]` }
    }
  }
}
