/** The behaviours of autoscaling, by group and plural. */
import type { Behaviour } from '#kinds/kind.ts'
import { horizontalPodAutoscaler } from './horizontal-pod-autoscaler.ts'

export const autoscalingBehaviours: Readonly<Record<string, Behaviour>> = {
  'autoscaling/horizontalpodautoscalers': horizontalPodAutoscaler,
}
