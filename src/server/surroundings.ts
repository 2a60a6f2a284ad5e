/** What a server takes from its program besides its settings. */
import type { Wire } from '#http/exchange.ts'
import type { TimerClock } from '#base/clock.ts'
import type { Random } from '#base/random.ts'
import type { Log } from '#observe/log.ts'
import type { Storage } from '#storage/storage.ts'
import type { Certificates } from './certificates.ts'

export interface Surroundings {
  readonly log: Log
  readonly clock: TimerClock
  readonly random: Random
  /** Stands before the server: answers some requests itself and passes on the others. */
  readonly route?: (serve: (wire: Wire) => void) => (wire: Wire) => void
  /** A store that the server uses in place of the one that its settings name, and closes. */
  readonly storage?: Storage
  /** Certificates that the server uses in place of those in its data directory. */
  readonly certificates?: Certificates
  /** Ends the start, or closes the running server. */
  readonly signal?: AbortSignal | undefined
}
