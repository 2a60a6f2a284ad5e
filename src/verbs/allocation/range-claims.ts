/**
 * What all servers on one store have given out of one range, kept where kube-apiserver keeps it: in
 * a RangeAllocation that is written on condition before the service is. The writer of its bit owns
 * a number, so no two servers give out the same at the same instant. Which numbers services hold is
 * the caller's matter.
 *
 * Edits that come while one is being written are written together with the next.
 */
import type { Revision, Storage, Stored } from '#storage/storage.ts'
import { Bitmap } from './bitmap.ts'

/** All that a RangeAllocation says. */
export interface Allocation {
  readonly range: string
  readonly data: Buffer
}

/** How it is read from the store and written to it. */
export interface AllocationForm {
  parse(bytes: Buffer): Allocation
  encode(allocation: Allocation): Buffer
}

export interface RangeClaimsOptions {
  readonly storage: Pick<Storage, 'get' | 'put'>
  readonly key: string
  /** As kube-apiserver writes it: `10.0.0.0/24`, `30000-32767`. */
  readonly range: string
  /** kube-apiserver's name: `serviceipallocations`. */
  readonly resource: string
  readonly form: AllocationForm
}

/** What services say of a range. */
export interface Usage {
  /** The numbers that stored services have by now. */
  held(): ReadonlySet<number>
  /** Whether this server is about to store a service that has it. */
  busy(number: number): boolean
}

/** The stored object at some revision, which is 0 where there is none. */
interface Known {
  readonly revision: Revision
  readonly range: string
  readonly bits: Bitmap
}

/** Changes the draft, or leaves it alone and answers false. */
type Edit = (draft: Bitmap, known: Known) => boolean

interface Waiting {
  readonly edit: Edit
  /** Whether it wants to know how things are now, whatever comes of the edit. */
  readonly fresh: boolean
  resolve(accepted: boolean): void
  reject(error: unknown): void
}

/**
 * An unused number becomes free when it is seen once more: its claimer may have been about to store
 * a service.
 */
const sightingsBeforeFree = 2
/** A busy range changes while it is looked through: then it is mended the next time. */
const mendAttemptsMax = 5

/** Nothing can be allocated from the range; the words are kube-apiserver's. */
export class RangeUnusable extends Error {
  override name = 'RangeUnusable'
}

export class RangeClaims {
  readonly #options: RangeClaimsOptions
  #known: Known | undefined
  readonly #waiting: Waiting[] = []
  #isWriting = false
  /** How often in a row an unused number was seen. */
  #sightings = new Map<number, number>()

  constructor(options: RangeClaimsOptions) {
    this.#options = options
  }

  /** Whether it was taken at the last read. */
  has(number: number): boolean {
    return this.#known?.bits.has(number) ?? false
  }

  /** Looks anew. */
  async refresh(): Promise<void> {
    await this.#write(() => false, true)
  }

  /** All of them or, if one is taken, none. Throws RangeUnusable. */
  claim(numbers: readonly number[]): Promise<boolean> {
    return this.#write((draft, known) => {
      const why = this.#whyUnusable(known)
      if (why !== undefined) throw new RangeUnusable(why)
      if (numbers.some((number) => draft.has(number))) return false
      for (const number of numbers) draft.add(number)
      return true
    })
  }

  async release(numbers: readonly number[]): Promise<void> {
    await this.#write((draft, known) => {
      if (this.#whyUnusable(known) !== undefined) return false
      for (const number of numbers) draft.delete(number)
      return true
    })
  }

  /**
   * Makes the range what services say it is, and makes the object where there is none. `look`
   * answers of the moment it is called or later.
   */
  async mend(look: () => Promise<Usage>): Promise<void> {
    for (let attempt = 0; attempt < mendAttemptsMax; attempt++) {
      await this.refresh()
      const seen = this.#known
      const usage = await look()
      if (seen !== undefined && (await this.#mendFrom(seen, usage))) return
    }
  }

  async #mendFrom(seen: Known, { held, busy }: Usage): Promise<boolean> {
    // Bits of another range say nothing of this one.
    const isForeign = this.#whyUnusable(seen) !== undefined
    const sightings = new Map<number, number>()
    const mended = await this.#write((draft, known) => {
      if (known.revision !== seen.revision) return false
      const inUse = held()
      for (const number of seen.bits.numbers()) {
        if (inUse.has(number) || (busy(number) && !isForeign)) continue
        const times = this.#sightings.get(number) ?? 0
        if (isForeign || times === sightingsBeforeFree) draft.delete(number)
        else sightings.set(number, times + 1)
      }
      for (const number of inUse) draft.add(number)
      return true
    })
    if (mended) this.#sightings = sightings
    return mended
  }

  #whyUnusable({ revision, range }: Known): string | undefined {
    if (revision === 0)
      return `cannot allocate resources of type ${this.#options.resource} at this time`
    if (range === this.#options.range) return undefined
    return 'the provided range does not match the current range'
  }

  #write(edit: Edit, fresh = false): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ edit, fresh, resolve, reject })
      if (!this.#isWriting) this.#writeAll()
    })
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0)
      try {
        const outcomes = await this.#commit(batch)
        for (const [i, settle] of outcomes.entries()) settle(batch[i] as Waiting)
      } catch (error) {
        // Whether it was written is not known, so neither is what is there now.
        this.#known = undefined
        for (const { reject } of batch) reject(error)
      }
    }
    this.#isWriting = false
  }

  async #commit(batch: readonly Waiting[]): Promise<((one: Waiting) => void)[]> {
    const { storage, key, range, form } = this.#options
    for (let isCurrent = false; ; isCurrent = true) {
      if (this.#known === undefined) {
        this.#known = this.#read((await storage.get(key)).value)
        isCurrent = true
      }
      const known: Known = this.#known
      const draft = known.bits.copy()
      let accepted = false
      const outcomes = batch.map(({ edit }) => {
        try {
          const outcome = edit(draft, known)
          accepted ||= outcome
          return ({ resolve }: Waiting) => resolve(outcome)
        } catch (error) {
          return ({ reject }: Waiting) => reject(error)
        }
      })
      const data = draft.bytes()
      const isSame = this.#whyUnusable(known) === undefined && data.equals(known.bits.bytes())
      if (!accepted || isSame) {
        if (!isCurrent && (accepted || batch.some(({ fresh }) => fresh))) {
          this.#known = this.#read((await storage.get(key)).value)
          // What is to be given back may have been claimed by others since this last looked.
          if (accepted) continue
        }
        return outcomes
      }
      const bytes = form.encode({ range, data })
      const outcome = await storage.put(key, bytes, { ifRevision: known.revision })
      if (outcome.ok) {
        this.#known = { revision: outcome.revision, range, bits: draft }
        return outcomes
      }
      this.#known = this.#read(outcome.current)
    }
  }

  #read(stored: Stored | undefined): Known {
    if (stored === undefined) return { revision: 0, range: '', bits: Bitmap.of() }
    const { range, data } = this.#options.form.parse(stored.bytes)
    return { revision: stored.revision, range, bits: Bitmap.of(data) }
  }
}
