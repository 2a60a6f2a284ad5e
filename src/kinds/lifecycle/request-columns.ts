/** Cells that tables of Eviction and EvictionRequest share. */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { column } from '#kinds/all-kinds/column.ts'

export const targetColumns = [
  column('Target', 'The pod that will be evicted.'),
  column('Target Type', 'The kind of the target.'),
  column('Status', 'How far the eviction is.'),
]

/** The cells of the columns above. */
export function targetCells({ spec, status = {} }: KubeObject): unknown[] {
  const pod: Loose | undefined = spec?.target?.pod
  const target = pod ? [pod.name ?? '', 'Pod'] : ['<unset>', '<unset>']
  return [...target, stateOf(status)]
}

function stateOf({ observedGeneration = 0, conditions = [] }: Loose): string {
  for (const type of ['TargetEvicted', 'Failed']) {
    const found = (conditions as Loose[]).find((condition) => condition.type === type)
    if (found?.status === 'True') return `${type} (${found.reason ?? ''})`
  }
  return observedGeneration > 0 ? 'Progressing' : 'Pending'
}
