/** The rules of ControllerRevision. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { controllerRevisionBehaviour } from './behaviour.ts'
import { controllerRevisionColumns } from './columns.ts'

export const controllerRevision: KindRules = {
  behaviour: controllerRevisionBehaviour,
  finalizerNames: 'by-behaviour',
  columns: controllerRevisionColumns,
}
