/** The complete state of a cluster at one revision. */
import type { MemoryStorage } from '#storage/memory/memory.ts'
import type { ClockState } from './test-clock.ts'

/** It never changes. */
export interface Snapshot {
  readonly revision: number
  readonly storage: MemoryStorage
  readonly clock: ClockState
  /** The seed for clusters of this snapshot, if its cluster had one. */
  readonly seed: number | undefined
}
