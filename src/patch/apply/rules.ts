/**
 * What releases make of owners and applies otherwise than the newest one does: a row for each rule, with the release
 * that brought it. Nothing here acts; the steps of an apply ask for the rule they follow.
 */

const since = {
  /** Before the first apply, the stand-in owns what the object says beyond nothing; before, all that it says. */
  standInOwnsWritten: 17,
  /** Whoever writes what cannot be owned item by item makes the object nobody's; before, owners stay as written. */
  forgetsOwnersOfUnfit: 17,
  /** Old updaters are folded into one. */
  foldsUpdaters: 17,
  /**
   * Fields of structs are owned where they are empty and go when their applier drops them, unless anybody else owns
   * them. Before, that held for keys and items alone, and updaters did not count.
   */
  dropsFields: 18,
  /** An apply that changes nothing leaves the object, and the time of its manager, as they are. */
  keepsUnchanged: 18,
  /** What is wrong in a list or map ends at the first item or field that cannot be, and values show as Go has them. */
  endsAtWrongItem: 18,
  /** What is no number is told by its type. */
  namesTypes: 19,
  /** A key that an applied item leaves out has its default. */
  defaultsKeys: 19,
  /** Owners are reckoned anew where the type has changed under them. */
  reconciles: 19,
  /** Who applies with kubectl takes over what kubectl noted on the object. */
  takesOverNoted: 19,
  /** A quantity may be applied as a number; before, it had to be a text. */
  takesNumbersForQuantities: 21,
  /** Items are merged in the order of the configuration; before, what is new comes last. */
  ordersAsConfigured: 21,
  /**
   * The time of an updater moves with every change it makes, that of an applier only where the object changes. Before,
   * both moved where the fields that the manager owns changed.
   */
  timesFollowObject: 25,
  /**
   * Items of a live list may have the same key: each is owned as a whole, by the key. Before, no manager owned any field
   * of such an object.
   */
  ownsDuplicates: 29,
}

export type ApplyRules = Readonly<Record<keyof typeof since, boolean>>

const known = new Map<number, ApplyRules>()

export function applyRules(release: number): ApplyRules {
  let rules = known.get(release)
  if (rules === undefined) {
    const rows = Object.entries(since).map(([rule, first]) => [rule, release >= first])
    rules = Object.fromEntries(rows) as ApplyRules
    known.set(release, rules)
  }
  return rules
}

export const newestRules = applyRules(Number.POSITIVE_INFINITY)
