/**
 * Older releases' rules of owners and applies: a row for each rule, with the release that brought
 * it. Nothing here acts; the steps of an apply look up the rule they follow.
 */
import { type ReleaseChange, change, releaseOf } from '#api/releases/change.ts'

const changes = {
  /**
   * Before the first apply, the stand-in owns what the object says beyond nothing; before, all that
   * it says.
   */
  standInOwnsWritten: change(
    'the stand-in owner of unowned fields owns what is written, not empty values',
    { since: 17 },
  ),
  /**
   * A write that cannot be owned item by item removes all owners; before, owners stay as written.
   */
  forgetsOwnersOfUnfit: change(
    'a write that cannot be split into owned items drops all managed fields',
    { since: 17 },
  ),
  /** Old updaters are folded into one. */
  foldsUpdaters: change('old entries of updaters in managedFields become one', { since: 17 }),
  /**
   * Fields of structs are owned where they are empty and go when their applier drops them, unless
   * anybody else owns them. Before, that held for keys and items alone, and updaters did not count.
   */
  dropsFields: change('an apply drops fields that its manager no longer applies', { since: 18 }),
  /** An apply that changes nothing leaves the object, and the time of its manager, as they are. */
  keepsUnchanged: change('an apply that changes nothing keeps the time of its manager', {
    since: 18,
  }),
  /**
   * What is wrong in a list or map ends at the first item or field that cannot be, and values show
   * as Go has them.
   */
  endsAtWrongItem: change('errors of an apply end at the first invalid item and show Go values', {
    since: 18,
  }),
  /** The error for a value that is no number names its type. */
  namesTypes: change('errors of an apply name the type of a value that is no number', {
    since: 19,
  }),
  /** A key that an applied item leaves out has its default. */
  defaultsKeys: change('keys that an applied list item leaves out have their default', {
    since: 19,
  }),
  /** Owners are reckoned anew where the type has changed under them. */
  reconciles: change('owners follow a type whose lists or maps became atomic or granular', {
    since: 19,
  }),
  /** An apply by kubectl takes over what kubectl recorded on the object. */
  takesOverNoted: change('kubectl apply --server-side takes over what kubectl apply owned', {
    since: 19,
  }),
  /** A quantity may be applied as a number; before, it had to be a text. */
  takesNumbersForQuantities: change('a quantity can be applied as a number', { since: 21 }),
  /** Items are merged in the order of the configuration; before, what is new comes last. */
  ordersAsConfigured: change('applied list items have the order of the configuration', {
    since: 21,
  }),
  /**
   * The time of an updater moves with every change it makes, that of an applier only where the
   * object changes. Before, both moved where the fields that the manager owns changed.
   */
  timesFollowObject: change('the time of an applier changes only with the object', { since: 25 }),
  /**
   * Items of a live list may have the same key: each is owned as a whole, by the key. Before, no
   * manager owned any field of such an object.
   */
  ownsDuplicates: change('list items with the same key have owners', { since: 29 }),
  /** Errors name the object that they are about, by namespace and name. */
  namesObjects: change('errors of an apply name the object', { since: 23 }),
  /** A configuration of another type is rejected for its type, before anything else of it. */
  checksType: change('an apply of another type names the type that it has', { since: 28 }),
  /**
   * A write whose owners cannot be found leaves those of the live object; before, the object lost
   * them.
   */
  keepsOwnersOfUnfit: change('writes whose owners cannot be found keep those of the live object', {
    since: 37,
  }),
}

export type ApplyRules = Readonly<Record<keyof typeof changes, boolean>>

const resolved = (has: (one: ReleaseChange) => boolean): ApplyRules =>
  Object.fromEntries(Object.entries(changes).map(([rule, one]) => [rule, has(one)])) as ApplyRules

const known = new Map<number, ApplyRules>()

export function applyRules(release: number): ApplyRules {
  let rules = known.get(release)
  if (rules === undefined) {
    rules = resolved(releaseOf(release).has)
    known.set(release, rules)
  }
  return rules
}

export const newestRules = resolved(() => true)
