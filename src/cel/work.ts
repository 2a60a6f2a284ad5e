/**
 * Work that the costs of cel-go do not see. `size(text)` costs 1 and reads the whole text. `[a, a]
 * == [b, b]` costs 1 however much is in `a` and `b`. An evaluation has a budget of it, so that a
 * hostile one ends in bounded time and memory. Objects that people write need a thousandth.
 *
 * One unit is about a nanosecond. An evaluation is one synchronous call, so one counter is enough.
 */
import { CostExceeded } from './frame.ts'

/** A third of a second, and at most 80 MB of new texts. */
const workMax = 300_000_000

let left = Number.POSITIVE_INFINITY

/** Throws CostExceeded if the evaluation has used its budget. */
export function work(amount: number): void {
  left -= amount
  if (left < 0) throw new CostExceeded()
}

/** The work of reading one element of a list or map. */
export const elementWork = 30

/** Texts and lists of this size are read and made without counting. */
const uncountedSizeMax = 1000

/** Charges for reading a text or a list whose size its cost does not count. */
export function chargeRead(size: number): void {
  if (size > uncountedSizeMax) work(size)
}

/** Charges for a new text: its memory counts more than the time to make it. */
export function chargeText(length: number): void {
  if (length > uncountedSizeMax) work(4 * length)
}

/** Charges for a new list: an element takes at least as much memory as eight characters. */
export function chargeList(size: number): void {
  if (size > uncountedSizeMax) work(32 * size)
}

/** The names of large objects that this evaluation has looked at. */
let namesKept: WeakMap<object, readonly string[]> | undefined
const namesKeptMin = 50

/**
 * The names of an object. They are made once in an evaluation, because `size(map)` in a macro would
 * make them for each element.
 */
export function namesOf(object: object): readonly string[] {
  const known = namesKept?.get(object)
  if (known !== undefined) return known
  const names = Object.keys(object)
  if (names.length > namesKeptMin && left !== Number.POSITIVE_INFINITY) {
    namesKept ??= new WeakMap()
    namesKept.set(object, names)
  }
  return names
}

/** Half a second. Objects that people write need a hundredth for all their policies. */
const sharedWorkMax = 500_000_000

/**
 * A budget that many evaluations share, such as those of one request. Each of them has its own
 * budget too. After the shared budget is used up, evaluations that do counted work fail.
 */
export class SharedWork {
  #left = sharedWorkMax

  run<Result>(evaluate: () => Result): Result {
    const outer = left
    left = Math.min(outer, this.#left)
    const before = left
    try {
      return evaluate()
    } finally {
      const used = before - left
      this.#left -= used
      left = outer - used
      if (outer === Number.POSITIVE_INFINITY) namesKept = undefined
    }
  }
}

/** Runs one evaluation with a budget of its own, within that of the evaluation around it. */
export function withWork<Result>(run: () => Result): Result {
  const outer = left
  left = Math.min(outer, workMax)
  const before = left
  try {
    return run()
  } finally {
    left = outer - (before - left)
    if (outer === Number.POSITIVE_INFINITY) namesKept = undefined
  }
}
