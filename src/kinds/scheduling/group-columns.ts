/** Cells that tables of PodGroup and CompositePodGroup share. */
import type { KubeObject } from '#api/object-meta.ts'
import { column } from '#kinds/all-kinds/column.ts'

export const policyColumn = column('Policy', 'How the group is scheduled.')
export const workloadColumn = column('Workload', 'The Workload that has the template of the group.')

export const policyOf = ({ spec }: KubeObject): string =>
  spec?.schedulingPolicy?.gang ? 'Gang' : 'Basic'

export const workloadOf = ({ spec }: KubeObject): string =>
  spec?.workloadRef ? (spec.workloadRef.workloadName ?? '') : '<none>'
