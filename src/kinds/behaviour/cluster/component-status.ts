/** ComponentStatus: made up when asked for, never stored; only its columns are here. */
import { componentStatusColumns } from '#kinds/columns/cluster.ts'
import type { Behaviour } from '#kinds/kind.ts'

export const componentStatus: Behaviour = { columns: componentStatusColumns }
