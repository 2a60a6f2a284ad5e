/** The rules of HorizontalPodAutoscaler. */
import { change } from '#api/releases/change.ts'
import type { KindRules } from '#kinds/kind-rules.ts'
import { horizontalPodAutoscalerBehaviour } from './behaviour.ts'
import {
  horizontalPodAutoscalerColumns,
  horizontalPodAutoscalerColumnsBefore19,
  horizontalPodAutoscalerColumnsBefore30,
} from './columns.ts'
import { horizontalPodAutoscalerConversions } from './conversions.ts'
import { horizontalPodAutoscalerDefaults } from './defaults.ts'

export const horizontalPodAutoscaler: KindRules = {
  behaviour: horizontalPodAutoscalerBehaviour,
  columns: horizontalPodAutoscalerColumns,
  olderColumns: [
    {
      before: change('tables of autoscalers show the average value of object metrics', {
        since: 19,
      }),
      instead: horizontalPodAutoscalerColumnsBefore19,
    },
    {
      before: change('tables of autoscalers name the resource of a metric', { since: 30 }),
      instead: horizontalPodAutoscalerColumnsBefore30,
    },
  ],
  defaults: horizontalPodAutoscalerDefaults,
  conversions: horizontalPodAutoscalerConversions,
}
