/**
 * Decides whether the disk has space for another write. It checks the disk rarely and counts bytes
 * in between. While the disk is full it admits only deletions, which free space, until a check
 * finds more than the reserve. It writes nothing.
 */
import { sharesOf } from './disk-space.ts'

/** The overhead of a write besides its value: parts of a table page and of an index page. */
const writeBytes = 4096

/** Each write is in the log and in the database. */
const copies = 2

/** Checks per full log; the store notices writes of other programs with this delay. */
const looksPerLog = 4

/**
 * A full disk needs this multiple of the reserve before writes are admitted again, not just one
 * freed page.
 */
const enoughRatio = 4 / 3

export interface DiskBudgetOptions {
  /** The size at which the log is copied. */
  readonly logBytes: number
  /** The number of bytes that the store may still grow. */
  spareBytes(): number
  /** Called if little space is left; `isFull` if only deletions are admitted. */
  short(isFull: boolean): void
}

export class DiskBudget {
  readonly #options: DiskBudgetOptions
  readonly #shares: ReturnType<typeof sharesOf>
  /** Bytes that may be written before the next check. */
  #leftBytes = 0
  #isFull = false

  constructor(options: DiskBudgetOptions) {
    this.#options = options
    this.#shares = sharesOf(options.logBytes)
  }

  get isFull(): boolean {
    return this.#isFull
  }

  /** Whether there is space for a value; undefined means a deletion. */
  take(sizeBytes: number | undefined): boolean {
    if (sizeBytes === undefined) return !this.#isFull || this.#isRoomForDeletion()
    if (this.#isFull) return false
    this.#leftBytes -= sizeBytes + writeBytes
    return this.#leftBytes >= 0 || this.#look(sizeBytes + writeBytes, this.#shares.reserveBytes)
  }

  /** Checks the disk; returns whether it has space. */
  refill(): boolean {
    const { reserveBytes } = this.#shares
    return this.#look(0, this.#isFull ? reserveBytes * enoughRatio : reserveBytes)
  }

  #isRoomForDeletion(): boolean {
    this.#options.short(true)
    return this.#options.spareBytes() >= this.#shares.deletionReserveBytes
  }

  #look(neededBytes: number, keptBytes: number): boolean {
    const spare = this.#options.spareBytes()
    const left = (spare - keptBytes) / copies - neededBytes
    this.#isFull = left < 0
    this.#leftBytes = Math.min(Math.max(0, left), this.#options.logBytes / looksPerLog)
    if (spare < this.#shares.shortBytes) this.#options.short(this.#isFull)
    return !this.#isFull
  }
}
