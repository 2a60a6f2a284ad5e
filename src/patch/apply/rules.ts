/**
 * The rules of field ownership and apply that differ between releases, each with the release that
 * introduced it. The steps of an apply look up their rules here.
 */
import { type ReleaseChange, change, releaseOf } from '#api/releases/change.ts'

const changes = {
  /** The stand-in manager owns the non-zero fields of the object. Previously it owned all. */
  standInOwnsWritten: change(
    'the stand-in owner of unowned fields owns what is written, not empty values',
    { since: 17 },
  ),
  /**
   * A write with lists whose items cannot be identified removes all managedFields. Previously they
   * stayed as written.
   */
  forgetsOwnersOfUnfit: change(
    'a write that cannot be split into owned items drops all managed fields',
    { since: 17 },
  ),
  /** Old Update entries are merged into one. */
  foldsUpdaters: change('old entries of updaters in managedFields become one', { since: 17 }),
  /**
   * Empty struct fields are owned, and are deleted when their applier drops them unless another
   * manager owns them. Previously this was true only for keys and items, and Update managers did
   * not count.
   */
  dropsFields: change('an apply drops fields that its manager no longer applies', { since: 18 }),
  /** An apply without changes keeps the object, and the time of its manager. */
  keepsUnchanged: change('an apply that changes nothing keeps the time of its manager', {
    since: 18,
  }),
  /**
   * Validation stops at the first invalid item or field, and messages contain Go's format of
   * values.
   */
  endsAtWrongItem: change('errors of an apply end at the first invalid item and show Go values', {
    since: 18,
  }),
  /** The error for a value that is not a number contains its type. */
  namesTypes: change('errors of an apply name the type of a value that is no number', {
    since: 19,
  }),
  /** An applied item without a key field has that key's default. */
  defaultsKeys: change('keys that an applied list item leaves out have their default', {
    since: 19,
  }),
  /**
   * An item may leave out some of its keys: it is another item than one that has them. Previously
   * such an item was an error.
   */
  omitsKeys: change('applied list items may leave out some of their keys', { since: 34 }),
  /** Field sets are recomputed if the type of a field became atomic or granular. */
  reconciles: change('owners follow a type whose lists or maps became atomic or granular', {
    since: 19,
  }),
  /** `kubectl apply --server-side` takes over the fields in kubectl's last-applied annotation. */
  takesOverNoted: change('kubectl apply --server-side takes over what kubectl apply owned', {
    since: 19,
  }),
  /** A quantity may be applied as a number. Previously it had to be a string. */
  takesNumbersForQuantities: change('a quantity can be applied as a number', { since: 21 }),
  /** Items are merged in the order of the configuration. Previously new items came last. */
  ordersAsConfigured: change('applied list items have the order of the configuration', {
    since: 21,
  }),
  /**
   * The time of an Update manager changes with each of its changes, and the time of an Apply
   * manager only with the object. Previously both changed with the manager's field set.
   */
  timesFollowObject: change('the time of an applier changes only with the object', { since: 25 }),
  /**
   * Items of a live list may have the same key; such items are owned as one field. Previously no
   * manager owned any field of such an object.
   */
  ownsDuplicates: change('list items with the same key have owners', { since: 29 }),
  /** A conflict has the path of its own field. Previously siblings could share the last path. */
  copiesConflictPaths: change('conflicts of an apply name each field by its own path', {
    since: 29,
  }),
  /** Errors name the object by namespace and name. */
  namesObjects: change('errors of an apply name the object', { since: 23 }),
  /** A configuration of another type is rejected before all other checks. */
  checksType: change('an apply of another type names the type that it has', { since: 28 }),
  /**
   * A write whose field sets cannot be computed keeps the managedFields of the live object.
   * Previously the object lost them.
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
