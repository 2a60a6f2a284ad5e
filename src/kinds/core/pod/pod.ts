/** The rules of Pod. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { podTemplateDefaults } from '#kinds/pod-template/defaults.ts'
import { podBehaviour } from './behaviour.ts'
import { olderPodColumns, podColumns } from './columns.ts'
import { podDefaults } from './defaults.ts'

export const pod: KindRules = {
  behaviour: podBehaviour,
  finalizerNames: 'by-behaviour',
  columns: podColumns,
  olderColumns: olderPodColumns,
  newerSelectableFields: new Map([
    ['spec.hostNetwork', change('pods are selected by spec.hostNetwork', { since: 28 })],
  ]),
  defaults: { ...podTemplateDefaults, ...podDefaults },
}
