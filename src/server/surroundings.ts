/** What a server takes from its program besides its settings. */
import type { TimerClock } from '#base/clock.ts'
import type { Random } from '#base/random.ts'
import type { Log } from '#observe/log.ts'

export interface Surroundings {
  readonly log: Log
  readonly clock: TimerClock
  readonly random: Random
  /** Ends the start, or closes the running server. */
  readonly signal?: AbortSignal | undefined
}
