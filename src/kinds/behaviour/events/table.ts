/** The behaviour of events, which two groups serve. */
import type { Behaviour } from '#kinds/kind.ts'
import { event } from './event.ts'

export const eventBehaviours: Readonly<Record<string, Behaviour>> = {
  '/events': event,
  'events.k8s.io/events': event,
}
