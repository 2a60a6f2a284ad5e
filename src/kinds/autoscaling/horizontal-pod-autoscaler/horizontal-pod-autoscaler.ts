/** The rules of HorizontalPodAutoscaler. */
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
    { before: 19, instead: horizontalPodAutoscalerColumnsBefore19 },
    { before: 30, instead: horizontalPodAutoscalerColumnsBefore30 },
  ],
  defaults: horizontalPodAutoscalerDefaults,
  conversions: horizontalPodAutoscalerConversions,
}
