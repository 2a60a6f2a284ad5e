/** Warns of workloads with names that are unsuitable for their pods. */
import { dns1123Label } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { Context } from '#kinds/kind.ts'

const namesShouldBeLabels = change('names that are no DNS labels cause a warning', { since: 27 })

/** Pod names derive from the workload's name, and the pod name becomes the host name. */
export function podNameWarnings({ metadata }: KubeObject, { release }: Context): string[] {
  const problems = dns1123Label(metadata.name ?? '')
  if (problems.length === 0 || !releaseOf(release).has(namesShouldBeLabels)) return []
  return [
    `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
  ]
}
