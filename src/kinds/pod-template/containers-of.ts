/** Walks over the containers of a pod spec, in kube-apiserver's order. */
import type { FieldPath } from '#api/field-path.ts'
import type { Loose } from '#api/object-meta.ts'

/** Init containers, containers and ephemeral containers. */
export const containersOf = (spec: Loose): Loose[] => [
  ...(spec.initContainers ?? []),
  ...(spec.containers ?? []),
  ...(spec.ephemeralContainers ?? []),
]

/** The same with the path of each; ephemeral containers only where their feature is on. */
export function containersWithPaths(
  spec: Loose,
  path: FieldPath,
  ephemeral: boolean,
): { container: Loose; path: FieldPath }[] {
  const lists = ['initContainers', 'containers', ...(ephemeral ? ['ephemeralContainers'] : [])]
  return lists.flatMap((name) =>
    ((spec[name] ?? []) as Loose[]).map((container, i) => ({
      container,
      path: path.child(name).index(i),
    })),
  )
}
