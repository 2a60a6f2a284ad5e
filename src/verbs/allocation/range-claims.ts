/**
 * The numbers allocated from one range by all servers on one store. Like kube-apiserver, it stores
 * them as a bitmap in a RangeAllocation. The bitmap is written conditionally before the service, so
 * two servers never allocate the same number at once. The caller determines which numbers services
 * use.
 *
 * Edits that arrive during a write are combined in the next write.
 */
import type { Revision, Storage, Stored } from '#storage/storage.ts'
import { Bitmap } from './bitmap.ts'

/** The contents of a RangeAllocation. */
export interface Allocation {
  readonly range: string
  readonly data: Buffer
}

/** Decodes and encodes the stored object. */
export interface AllocationForm {
  parse(bytes: Buffer): Allocation
  encode(allocation: Allocation): Buffer
}

export interface RangeClaimsOptions {
  readonly storage: Pick<Storage, 'get' | 'put'>
  readonly key: string
  /** In kube-apiserver's format: `10.0.0.0/24`, `30000-32767`. */
  readonly range: string
  /** kube-apiserver's name of the resource: `serviceipallocations`. */
  readonly resource: string
  readonly form: AllocationForm
}

/** The use of a range by services. */
export interface Usage {
  /** The numbers of the services that are stored now. */
  held(): ReadonlySet<number>
  /** Whether this server is about to store a service with this number. */
  busy(number: number): boolean
}

/** The stored object at a revision; revision 0 means that it does not exist. */
interface Known {
  readonly revision: Revision
  readonly range: string
  readonly bits: Bitmap
}

/** Changes the draft and returns true, or leaves it unchanged and returns false. */
type Edit = (draft: Bitmap, known: Known) => boolean

interface Waiting {
  readonly edit: Edit
  /** Whether the caller needs a fresh read of the object even if its edit changes nothing. */
  readonly fresh: boolean
  resolve(accepted: boolean): void
  reject(error: unknown): void
}

/**
 * An unused number is freed when a third consecutive repair sees it: a server may have claimed it
 * and be about to store its service.
 */
const sightingsBeforeFree = 2
/** Repairs of a busy range fail if it changes meanwhile; the next repair tries again. */
const mendAttemptsMax = 5

/** Nothing can be allocated from the range. The messages are kube-apiserver's. */
export class RangeUnusable extends Error {
  override name = 'RangeUnusable'
}

export class RangeClaims {
  readonly #options: RangeClaimsOptions
  #known: Known | undefined
  readonly #waiting: Waiting[] = []
  #isWriting = false
  /** For each unused number: how many consecutive repairs saw it allocated. */
  #sightings = new Map<number, number>()

  constructor(options: RangeClaimsOptions) {
    this.#options = options
  }

  /** Whether the number was allocated at the last read. */
  has(number: number): boolean {
    return this.#known?.bits.has(number) ?? false
  }

  /** Reads the object from the store. */
  async refresh(): Promise<void> {
    await this.#write(() => false, true)
  }

  /**
   * Claims all numbers; returns false and claims none if one of them is allocated. Throws
   * RangeUnusable.
   */
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
   * Repairs the bitmap so that it matches the services, and creates the object if it is missing.
   * `look` must return the usage at the time of its call or later.
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
    // The bits of another range are meaningless for this range.
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
        // The write may have succeeded, so the stored state is unknown.
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
          // Another server may have claimed the released numbers since the last read.
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
