/** The parts that a program passes to the server in addition to its settings. */
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
  /** Handles requests before the server: responds to some, and passes on the others. */
  readonly route?: (serve: (wire: Wire) => void) => (wire: Wire) => void
  /** A store to use instead of the configured one. The server closes it. */
  readonly storage?: Storage
  /** Certificates to use instead of those in the data directory. */
  readonly certificates?: Certificates
  /** Aborts the start, or closes the running server. */
  readonly signal?: AbortSignal | undefined
}
