/**
 * The rules of structured merge: field ownership after a write, computed from objects and field
 * sets.
 *
 *   update   a manager wrote the whole object: it owns what it added or changed, others lose that
 *   apply    a manager wrote some fields: they are merged, fields it no longer applies are deleted,
 *            and fields of other managers must not change
 */
import type { Json, KubeObject } from '#api/object-meta.ts'
import type { Type } from '#schema/type.ts'
import { type Comparison, compareObjects, excludeFields, isSame } from './compare.ts'
import { type Conflict, conflictsOf } from './conflict.ts'
import {
  difference,
  emptySet,
  type FieldSet,
  intersection,
  isEmptySet,
  isSubset,
  recursiveDifference,
  union,
} from './field-set.ts'
import { Unfit } from './fitness.ts'
import { dropEmpty, type Owned } from './managed-fields.ts'
import { mergeObjects } from './merge.ts'
import { reconcileWithType, withNamedFields } from './reconcile.ts'
import { removeItems } from './remove.ts'
import type { ApplyRules } from './rules.ts'
import { toFieldSet } from './to-field-set.ts'

/** An object with the type of its version. */
export interface Typed {
  readonly object: KubeObject
  readonly type: Type
  readonly apiVersion: string
}

export interface Versions {
  readonly rules: ApplyRules
  /**
   * Converts the object to another version; undefined if that version no longer exists. Throws
   * Unfit.
   */
  convert(typed: Typed, apiVersion: string): Typed | undefined
  /** The fields that a write through this endpoint resets, in the given version. */
  resetFields(apiVersion: string): FieldSet | undefined
}

type Owners = Map<string, Owned>

/** Removes managers whose version no longer exists, and adapts field sets to changed types. */
function reconciled(live: Typed, owners: Owners, versions: Versions): Owners {
  if (!versions.rules.reconciles) return new Map(owners)
  const out: Owners = new Map()
  for (const [manager, owned] of owners) {
    const typed = versions.convert(live, owned.apiVersion)
    if (typed === undefined) continue
    const set = reconcileWithType(typed.type, owned.set)
    out.set(manager, set === owned.set ? owned : { ...owned, set })
  }
  return out
}

/** Adds the purpose of a failed conversion to its error. */
function withPurpose<Result>(doing: string, act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    throw error instanceof Unfit ? new Unfit(`failed ${doing}: ${error.message}`) : error
  }
}

interface Outcome {
  readonly owners: Owners
  /** Without the fields that the write resets. */
  readonly comparison: Comparison
  /** Whether nothing differs, not even in fields that the write resets. */
  readonly isSame: boolean
}

/**
 * Removes the changed fields from all managers except `writer`. Without `force`, returns them as
 * conflicts instead.
 */
function takeChanged(
  before: Typed,
  after: Typed,
  owners: Owners,
  writer: string,
  force: boolean,
  versions: Versions,
): Outcome | Conflict[] {
  const whole = compareIn(before, after, before.apiVersion, versions) as Comparison
  const kept = (one: Comparison | undefined, apiVersion: string) =>
    one && excludeFields(one, versions.resetFields(apiVersion))
  const comparison = kept(whole, before.apiVersion) as Comparison
  const comparisons = new Map<string, Comparison | undefined>([[before.apiVersion, comparison]])
  const lost = new Map<string, FieldSet>()
  for (const [manager, owned] of owners) {
    if (manager === writer) continue
    if (!comparisons.has(owned.apiVersion)) {
      const theirs = compareIn(before, after, owned.apiVersion, versions)
      comparisons.set(owned.apiVersion, kept(theirs, owned.apiVersion))
    }
    const theirs = comparisons.get(owned.apiVersion)
    if (theirs === undefined) {
      owners.delete(manager)
      continue
    }
    const taken = intersection(union(theirs.modified, theirs.added), owned.set)
    if (!isEmptySet(taken)) lost.set(manager, taken)
  }
  if (!force && lost.size > 0) return conflictsOf(lost, versions.rules)
  for (const [manager, owned] of owners) {
    if (manager === writer) continue
    const removed = comparisons.get(owned.apiVersion)?.removed ?? emptySet
    const taken = lost.get(manager)
    if (taken === undefined && isEmptySet(removed)) continue
    const set = difference(taken === undefined ? owned.set : difference(owned.set, taken), removed)
    owners.set(manager, { ...owned, set })
  }
  dropEmpty(owners)
  return { owners, comparison, isSame: isSame(whole) }
}

function compareIn(
  before: Typed,
  after: Typed,
  apiVersion: string,
  versions: Versions,
): Comparison | undefined {
  const old = withPurpose('to convert old object', () => versions.convert(before, apiVersion))
  const now = withPurpose('to convert new object', () => versions.convert(after, apiVersion))
  if (old === undefined || now === undefined) return undefined
  return compareObjects(old.type, old.object as Json, now.object as Json)
}

/** The owners after `writer` replaced `before` by `after`; both are in the version of the write. */
export function updateOwners(
  before: Typed,
  after: Typed,
  owners: Owners,
  writer: string,
  versions: Versions,
): Owners {
  const known = reconciled(before, owners, versions)
  const { owners: left, comparison } = takeChanged(
    before,
    after,
    known,
    writer,
    true,
    versions,
  ) as Outcome
  const { added, modified, removed } = comparison
  // If duplicates of an item are removed, the item counts as both removed and added.
  const kept = difference(left.get(writer)?.set ?? emptySet, removed)
  const reset = versions.resetFields(after.apiVersion) ?? emptySet
  const set = recursiveDifference(union(union(kept, modified), added), reset)
  if (isEmptySet(set)) left.delete(writer)
  else left.set(writer, { set, apiVersion: after.apiVersion, applied: false })
  return left
}

export interface Applied {
  /** undefined if the live object already matches the configuration. */
  readonly object: KubeObject | undefined
  readonly owners: Owners
}

/** Applies `config` to `live`; both are in the version of the request. */
export function applyConfig(
  live: Typed,
  config: Typed,
  owners: Owners,
  applier: string,
  force: boolean,
  versions: Versions,
): Applied | Conflict[] {
  const { rules } = versions
  const known = reconciled(live, owners, versions)
  const last = known.get(applier)
  const { type, apiVersion } = live
  const merged = mergeObjects(type, json(live), json(config), rules) as KubeObject
  let set = toFieldSet(type, json(config), rules)
  const reset = versions.resetFields(apiVersion)
  if (reset !== undefined) set = recursiveDifference(set, reset)
  known.set(applier, { set, apiVersion, applied: true })
  const pruned = withPurpose('to prune fields', () =>
    prune({ object: merged, type, apiVersion }, known, applier, last, versions),
  )
  const outcome = takeChanged(live, pruned, known, applier, force, versions)
  if (Array.isArray(outcome)) return outcome
  return {
    object: rules.keepsUnchanged && outcome.isSame ? undefined : pruned.object,
    owners: outcome.owners,
  }
}

/**
 * Removes the fields that the applier applied last time and not now, unless another manager owns
 * them.
 */
function prune(
  merged: Typed,
  owners: Owners,
  applier: string,
  last: Owned | undefined,
  versions: Versions,
): Typed {
  if (last === undefined || isEmptySet(last.set)) return merged
  const own = owners.get(applier) as Owned
  // If the applier dropped nothing and all managers use one version, the following steps change
  // nothing.
  if (isSubset(last.set, own.set) && speakOne(owners, last.apiVersion)) return merged
  const inLast = withPurpose('to convert merged object to last applied version', () =>
    versions.convert(merged, last.apiVersion),
  )
  if (inLast === undefined) return merged
  const without = withoutPaths(inLast, namedIn(inLast.type, last.set, versions), versions)
  const backByOwners = withPurpose('add back owned items', () =>
    addBackOwned(inLast, without, owners, versions),
  )
  const backByChance = withPurpose('add back dangling items', () =>
    addBackDangling(inLast, backByOwners, last, versions),
  )
  return versions.convert(backByChance, merged.apiVersion) ?? merged
}

function speakOne(owners: Owners, apiVersion: string): boolean {
  for (const owned of owners.values()) if (owned.apiVersion !== apiVersion) return false
  return true
}

const json = ({ object }: Typed): Json => object as Json
const withObject = (typed: Typed, object: Json): Typed => ({
  ...typed,
  object: (object ?? {}) as KubeObject,
})

const namedIn = (type: Type, set: FieldSet, { rules }: Versions): FieldSet =>
  rules.dropsFields ? withNamedFields(type, set) : set
const pathsOf = (typed: Typed, versions: Versions): FieldSet =>
  namedIn(typed.type, toFieldSet(typed.type, json(typed), versions.rules), versions)
const withoutPaths = (typed: Typed, paths: FieldSet, { rules }: Versions): Typed =>
  withObject(typed, removeItems(typed.type, json(typed), paths, rules))

/** Restores the fields that other managers own, in any version. */
function addBackOwned(merged: Typed, pruned: Typed, owners: Owners, versions: Versions): Typed {
  const byVersion = new Map<string, FieldSet>()
  for (const { apiVersion, set, applied } of owners.values()) {
    if (!applied && !versions.rules.dropsFields) continue
    byVersion.set(apiVersion, union(byVersion.get(apiVersion) ?? emptySet, set))
  }
  let whole = merged
  let left = pruned
  for (const version of [...byVersion.keys()].sort()) {
    const inVersion = (what: string, typed: Typed) =>
      withPurpose(`to convert ${what} object at version ${version}`, () =>
        versions.convert(typed, version),
      )
    const wholeHere = inVersion('merged', whole)
    const leftHere = inVersion('pruned', left)
    if (wholeHere === undefined || leftHere === undefined) continue
    whole = wholeHere
    const owned = namedIn(whole.type, byVersion.get(version) as FieldSet, versions)
    const wanted = union(pathsOf(leftHere, versions), owned)
    left = withoutPaths(whole, difference(pathsOf(whole, versions), wanted), versions)
  }
  return left
}

/** Restores removed fields that the applier did not own. */
function addBackDangling(merged: Typed, pruned: Typed, last: Owned, versions: Versions): Typed {
  const left = withPurpose('to convert pruned object to last applied version', () =>
    versions.convert(pruned, last.apiVersion),
  )
  if (left === undefined) return merged
  const gone = difference(pathsOf(merged, versions), pathsOf(left, versions))
  const unwanted = intersection(gone, namedIn(merged.type, last.set, versions))
  return withoutPaths(merged, unwanted, versions)
}
