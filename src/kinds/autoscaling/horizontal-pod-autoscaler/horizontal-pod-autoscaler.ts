/** The rules of HorizontalPodAutoscaler. */
import type { KindRules } from '#kinds/kind-rules.ts'
import { horizontalPodAutoscalerBehaviour } from './behaviour.ts'
import {
  horizontalPodAutoscalerColumns,
  horizontalPodAutoscalerColumnsBefore19,
} from './columns.ts'
import { horizontalPodAutoscalerConversions } from './conversions.ts'
import { horizontalPodAutoscalerDefaults } from './defaults.ts'

export const horizontalPodAutoscaler: KindRules = {
  behaviour: horizontalPodAutoscalerBehaviour,
  columns: horizontalPodAutoscalerColumns,
  olderColumns: [{ before: 19, instead: horizontalPodAutoscalerColumnsBefore19 }],
  defaults: horizontalPodAutoscalerDefaults,
  conversions: horizontalPodAutoscalerConversions,
}
