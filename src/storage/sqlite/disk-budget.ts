/**
 * Whether the disk has room for another write. It looks at the disk seldom and counts in between.
 * While the disk is full it takes nothing but deletions, which make room, until a look finds more
 * than what is kept back. It writes nothing.
 */
import { sharesOf } from './disk-space.ts'

/** What a write takes beside its value: part of a page of the table and one of the index. */
const writeBytes = 4096

/** A write is in the log and in the database. */
const copies = 2

/** Looks between two emptyings of the log: writes of other programs show as late as that. */
const looksPerLog = 4

/** So much more than the reserve ends a full disk: not the first page that was freed. */
const enoughRatio = 4 / 3

export interface DiskBudgetOptions {
  /** How long the log may become before it is copied. */
  readonly logBytes: number
  /** What the store may still grow by. */
  spareBytes(): number
  /** Little is left, or too little for anything but deletions. */
  short(isFull: boolean): void
}

export class DiskBudget {
  readonly #options: DiskBudgetOptions
  readonly #shares: ReturnType<typeof sharesOf>
  /** What may be written before the next look. */
  #leftBytes = 0
  #isFull = false

  constructor(options: DiskBudgetOptions) {
    this.#options = options
    this.#shares = sharesOf(options.logBytes)
  }

  get isFull(): boolean {
    return this.#isFull
  }

  /** Says whether there is room for a value; undefined: a deletion. */
  take(sizeBytes: number | undefined): boolean {
    if (sizeBytes === undefined) return !this.#isFull || this.#isRoomForDeletion()
    if (this.#isFull) return false
    this.#leftBytes -= sizeBytes + writeBytes
    return this.#leftBytes >= 0 || this.#look(sizeBytes + writeBytes, this.#shares.reserveBytes)
  }

  /** Returns whether a full disk has room again. */
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
