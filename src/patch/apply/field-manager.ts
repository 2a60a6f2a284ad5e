/**
 * Field ownership for the verbs: computes metadata.managedFields after a write, and the object
 * after an apply. Pure: the time is an argument, and the kind converts versions. Arguments are not
 * changed.
 */
import type { Json, KubeObject, ManagedFieldsEntry } from '#api/object-meta.ts'
import { ApiError, badRequest } from '#api/status-error.ts'
import { capUpdaters } from './cap.ts'
import { claimNew } from './claim.ts'
import { type Conflict, conflictingSet } from './conflict.ts'
import {
  difference,
  equalSets,
  hasPath,
  isEmptySet,
  makeFieldSet,
  recursiveDifference,
  union,
} from './field-set.ts'
import { isCustom, isFit, Unfit } from './fitness.ts'
import type { FieldSet } from './field-set.ts'
import { clientSideManager, ownedByClientSideApply, withLastApplied } from './last-applied.ts'
import {
  decodeManaged,
  encodeManaged,
  entryOf,
  equalOwners,
  identityOf,
  isReset,
  type Managed,
  type Manager,
  nobody,
} from './managed-fields.ts'
import { type Applied, applyConfig, type Typed, updateOwners } from './ownership.ts'
import type { ApplyRules } from './rules.ts'
import { NoElement } from './shape.ts'
import { toFieldSet } from './to-field-set.ts'
import { liveProblems, typeProblems } from './validate.ts'
import {
  asTyped,
  type FieldManagerKind,
  gvkText,
  NoVersion,
  rulesOf,
  typedObject,
  versionsOf,
  zeroObject,
} from './versions.ts'

export type { FieldManagerKind } from './versions.ts'

export interface Writer {
  readonly manager: string
  readonly subresource: string
  /** RFC 3339, whole seconds. */
  readonly now: string
  /** Whether fields have no owner before the first apply (releases before 1.18). */
  readonly onlyOnceApplied?: boolean
}

export interface Applier extends Writer {
  readonly force: boolean
}

/** The server sets these fields, so no manager owns them. */
const neverOwned = makeFieldSet([
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid'].map((name) => [
    'metadata',
    name,
  ]),
  ...['clusterName', 'generation', 'managedFields', 'resourceVersion'].map((name) => [
    'metadata',
    name,
  ]),
])

/**
 * metadata.managedFields of `next` after an update or create; `live` is undefined on create.
 * Unreadable entries are treated as absent. An object with lists whose items cannot be identified
 * has no entries.
 */
export function recordUpdate(
  kind: FieldManagerKind,
  live: KubeObject | undefined,
  next: KubeObject,
  who: Writer,
): ManagedFieldsEntry[] {
  try {
    if (live === undefined && !next.metadata?.managedFields) {
      return who.onlyOnceApplied ? [] : claimAll(kind, next, who)
    }
    const managed = ownersBefore(live, next, who.subresource !== '')
    const reset = who.subresource === '' && isReset(next.metadata?.managedFields)
    if (managed.owned.size === 0) {
      if (who.onlyOnceApplied) return []
      // A reset removes all owners first; the writer then owns what this write changes.
      if (live?.metadata?.uid && !reset) return []
      if (live === undefined) return claimAll(kind, next, who)
    }
    const before = live === undefined ? zeroObject(kind) : typedObject(kind, live)
    const after = typedObject(kind, next)
    const rules = rulesOf(kind)
    if (![before, after].every(({ type, object }) => isFit(type, object as Json, rules)))
      return rules.forgetsOwnersOfUnfit
        ? ownersOfUnfit(rules, live)
        : (next.metadata?.managedFields ?? [])
    return encodeManaged(updateManaged(kind, before, after, managed, who))
  } catch (error) {
    if (error instanceof Unfit || error instanceof NoElement || error instanceof NoVersion)
      return ownersOfUnfit(rulesOf(kind), live)
    throw error
  }
}

/** The managedFields of an object that does not match its type. */
const ownersOfUnfit = (rules: ApplyRules, live: KubeObject | undefined): ManagedFieldsEntry[] =>
  rules.keepsOwnersOfUnfit ? (live?.metadata?.managedFields ?? []) : []

/**
 * A client may rewrite managedFields through the main resource; omitting them does not remove them.
 */
function ownersBefore(
  live: KubeObject | undefined,
  next: KubeObject,
  subresource: boolean,
): Managed {
  if (!subresource) {
    const written = next.metadata?.managedFields
    if (isReset(written)) return nobody()
    const managed = decodeOrNobody(written)
    if (managed.owned.size > 0) return managed
  }
  return decodeOrNobody(live?.metadata?.managedFields)
}

function decodeOrNobody(entries: ManagedFieldsEntry[] | undefined): Managed {
  if (entries === undefined || entries === null || entries.length === 0) return nobody()
  try {
    return decodeManaged(entries)
  } catch {
    return nobody()
  }
}

/** The entry of a new object: the most common and cheapest case. */
function claimAll(kind: FieldManagerKind, next: KubeObject, who: Writer): ManagedFieldsEntry[] {
  const { object, type } = typedObject(kind, next)
  // The schema of a custom kind may admit values of another type.
  if (isCustom(type) && !isFit(type, object as Json, rulesOf(kind))) return []
  const reset = kind.resetFields(kind.apiVersion, who.subresource)
  let set: FieldSet
  try {
    set = claimNew(type, object as Json)
  } catch (error) {
    if (!(error instanceof Unfit) || !rulesOf(kind).ownsDuplicates) throw error
    return claimWithDuplicates(kind, { object, type, apiVersion: kind.apiVersion }, who)
  }
  if (reset !== undefined) set = recursiveDifference(set, reset)
  set = difference(set, neverOwned)
  if (isEmptySet(set)) return []
  return [
    entryOf(
      who.manager || 'unknown',
      'Update',
      kind.apiVersion,
      who.now,
      set,
      recordedSubresource(kind, who),
    ),
  ]
}

/** The same comparison for lists with duplicate keys. Throws Unfit. */
function claimWithDuplicates(
  kind: FieldManagerKind,
  next: Typed,
  who: Writer,
): ManagedFieldsEntry[] {
  if (!isFit(next.type, next.object as Json, rulesOf(kind))) throw new Unfit()
  return encodeManaged(updateManaged(kind, zeroObject(kind), next, nobody(), who))
}

/** The subresource as recorded in entries. */
const recordedSubresource = (
  { saysSubresource = true }: FieldManagerKind,
  { subresource }: Writer,
) => (saysSubresource ? subresource : '')

/** The managers after an update. The writer's time changes only if its field set does. */
function updateManaged(
  kind: FieldManagerKind,
  before: Typed,
  after: Typed,
  { owned, times }: Managed,
  who: Writer,
): Managed {
  const { apiVersion } = kind
  const rules = rulesOf(kind)
  const named: Manager = {
    manager: who.manager || 'unknown',
    operation: 'Update',
    apiVersion,
    subresource: recordedSubresource(kind, who),
  }
  const writer = identityOf(named)
  const former = owned.get(writer)
  // The fields of this request have a separate key at first, to distinguish them from the writer's
  // earlier fields.
  const self = 'current-operation'
  const owners = updateOwners(before, after, owned, self, versionsOf(kind, who.subresource))
  const mine = owners.get(self)
  owners.delete(self)
  const claimed = mine === undefined ? undefined : difference(mine.set, neverOwned)
  if (claimed !== undefined && !isEmptySet(claimed)) {
    const previous = owners.get(writer)
    const set = previous === undefined ? claimed : union(claimed, previous.set)
    owners.set(writer, { set, apiVersion, applied: false, who: named })
    const moves =
      !rules.keepsUnchanged ||
      rules.timesFollowObject ||
      former === undefined ||
      !equalSets(former.set, set)
    if (moves) times.set(writer, who.now)
  }
  const managed = { owned: owners, times }
  if (rules.foldsUpdaters) capUpdaters(managed)
  return managed
}

/**
 * Applies a configuration: returns the object with its managedFields, or the conflicts. Throws
 * ApiError if it cannot be applied. A `merged` object is neither canonical nor defaulted; otherwise
 * it is the live object. Results may share parts with the arguments.
 */
export function applyConfiguration(
  kind: FieldManagerKind,
  live: KubeObject | undefined,
  config: KubeObject,
  who: Applier,
): { object: KubeObject; merged: boolean } | { conflicts: Conflict[] } {
  const before = live === undefined ? zeroObject(kind) : typedObject(kind, live)
  let managed = decodeForApply(live)
  const rules = rulesOf(kind)
  const unowned = managed.owned.size === 0
  if (unowned && rules.standInOwnsWritten)
    managed = claimBeforeFirstApply(kind, before, managed, who)
  const wanted = typedConfig(kind, config)
  if (!isFit(before.type, before.object as Json, rules)) {
    const wrong = liveProblems(before.type, before.object as Json, rules)
    throw plainError(`failed to create typed live object${named(rules, before.object)}: ${wrong}`)
  }
  if (unowned && !rules.standInOwnsWritten) managed = claimAsItStands(kind, before)

  let outcome = applyOnce(kind, before, wanted, managed, who, who.force)
  const takesOver = rules.takesOverNoted && who.manager === clientSideManager
  if (Array.isArray(outcome) && takesOver) {
    const conflicts = outcome
    const allowed = ownedByClientSideApply(before)
    if (allowed === undefined) return { conflicts }
    if (!isEmptySet(difference(conflictingSet(conflicts), allowed))) {
      return { conflicts: conflicts.filter(({ path }) => !hasPath(allowed, path)) }
    }
    outcome = applyOnce(kind, before, wanted, managed, who, true)
  }
  if (Array.isArray(outcome)) return { conflicts: outcome }
  let object =
    outcome.object === undefined ? before.object : restored(rules, before, outcome.object, config)
  if (takesOver) object = withLastApplied(object, config)
  const merged = live === undefined || outcome.object !== undefined
  return { object: withManagedFields(object, encodeManaged(outcome.managed)), merged }
}

function restored(
  rules: ApplyRules,
  { type, object: live, apiVersion }: Typed,
  object: KubeObject,
  config: KubeObject,
): KubeObject {
  try {
    return asTyped({ type, object, apiVersion }, live)
  } catch (error) {
    if (!(error instanceof Unfit)) throw error
    throw plainError(
      `failed to convert new object${named(rules, config)} to proper version: ${error.message}`,
    )
  }
}

function applyOnce(
  kind: FieldManagerKind,
  live: Typed,
  config: Typed,
  { owned, times }: Managed,
  who: Applier,
  force: boolean,
): { object: KubeObject | undefined; managed: Managed } | Conflict[] {
  const { apiVersion } = kind
  const { subresource, now } = who
  const self: Manager = {
    manager: who.manager || 'unknown',
    operation: 'Apply',
    apiVersion,
    subresource: recordedSubresource(kind, who),
  }
  const applier = identityOf(self)
  const versions = versionsOf(kind, subresource)
  let applied: Applied | Conflict[]
  try {
    applied = applyConfig(live, config, owned, applier, force, versions)
  } catch (error) {
    // The object must also match the types of other managers' versions.
    throw error instanceof Unfit ? plainError(error.message) : error
  }
  if (Array.isArray(applied)) return applied
  const { object, owners } = applied
  const mine = owners.get(applier)
  if (mine !== undefined) {
    const set = difference(mine.set, neverOwned)
    if (isEmptySet(set)) owners.delete(applier)
    else owners.set(applier, { ...mine, set, who: self })
  }
  const moved = new Map(times)
  const changes =
    object !== undefined || (!rulesOf(kind).timesFollowObject && !equalOwners(owners, owned))
  if (changes) moved.set(applier, now)
  return { object, managed: { owned: owners, times: moved } }
}

const standInName = 'before-first-apply'

/**
 * In 1.16 the stand-in manager owns all fields of the object, including those of a new object, and
 * has no time.
 */
function claimAsItStands(kind: FieldManagerKind, { object, type, apiVersion }: Typed): Managed {
  const managed = nobody()
  const set = difference(toFieldSet(type, object as Json, rulesOf(kind)), neverOwned)
  const who: Manager = { manager: standInName, operation: 'Update', apiVersion, subresource: '' }
  if (!isEmptySet(set)) managed.owned.set(identityOf(who), { set, apiVersion, applied: false, who })
  return managed
}

/** At its first apply, an object without managers gets a stand-in manager. */
function claimBeforeFirstApply(
  kind: FieldManagerKind,
  live: Typed,
  managed: Managed,
  who: Applier,
): Managed {
  const rules = rulesOf(kind)
  if (!isFit(live.type, live.object as Json, rules)) {
    const wrong = liveProblems(live.type, live.object as Json, rules)
    throw plainError(
      `failed to create manager for existing fields: failed to convert new object (${nameOf(rules, live.object)}) to smd typed: ${wrong}`,
    )
  }
  const { subresource, now } = who
  const standIn = { manager: standInName, subresource, now }
  return updateManaged(kind, zeroObject(kind), live, managed, standIn)
}

function decodeForApply(live: KubeObject | undefined): Managed {
  try {
    return decodeManaged(live?.metadata?.managedFields)
  } catch (error) {
    throw plainError(`failed to decode managed fields: ${(error as Error).message}`)
  }
}

/**
 * Returns the configuration with its type. Throws if it does not match its type, or if the type is
 * unknown.
 */
export function typedConfig(kind: FieldManagerKind, config: KubeObject): Typed {
  const { apiVersion } = kind
  const stated = typeof config.apiVersion === 'string' ? config.apiVersion : ''
  if (rulesOf(kind).checksType) {
    const isKind = kind.kind === undefined || config.kind === kind.kind
    if (stated !== apiVersion || !isKind) throw badRequest(`invalid object type: ${gvkOf(config)}`)
  }
  const version = stated.split('/').length > 2 ? '' : stated
  if (version !== apiVersion) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${version}, expected: ${apiVersion}`,
    )
  }
  if (saysOwners(config)) {
    throw badRequest('metadata.managedFields must be nil')
  }
  const rules = rulesOf(kind)
  const failed = `failed to create typed patch object${named(rules, config)}`
  const type = kind.typeFor(apiVersion)
  if (type === undefined || (kind.kind !== undefined && config.kind !== kind.kind)) {
    throw plainError(`${failed}: no corresponding type for ${gvkText(config)}`)
  }
  const wrong = typeProblems(type, config as Json, rules)
  if (wrong !== undefined) throw plainError(`${failed}: ${wrong}`)
  return { object: config, type, apiVersion }
}

/** `default/a; /v1, Kind=ConfigMap`; older releases omit the name. */
function nameOf(rules: ApplyRules, object: KubeObject): string {
  if (!rules.namesObjects) return gvkText(object)
  const { namespace, name } = object.metadata ?? {}
  return `${textOf(namespace)}/${textOf(name)}; ${gvkText(object)}`
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The same in parentheses; empty in older releases. */
const named = (rules: ApplyRules, object: KubeObject): string =>
  rules.namesObjects ? ` (${nameOf(rules, object)})` : ''

/** If apiVersion has more than one slash, kube-apiserver also loses the kind. */
const gvkOf = ({ apiVersion, kind, metadata }: KubeObject): string => {
  const isVersion = typeof apiVersion === 'string' && apiVersion.split('/').length <= 2
  return gvkText({ ...(isVersion && { apiVersion, kind }), metadata } as KubeObject)
}

const isObject = (value: unknown): boolean =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** kube-apiserver ignores all entries if one is invalid. */
function saysOwners({ metadata }: KubeObject): boolean {
  const entries: unknown = metadata?.managedFields
  return Array.isArray(entries) && entries.every(isObject)
}

/** An error without a reason, as kube-apiserver returns it. */
const plainError = (message: string): ApiError => new ApiError(500, '', message)

function withManagedFields(object: KubeObject, entries: ManagedFieldsEntry[]): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata ?? {}
  return {
    ...object,
    metadata: entries.length === 0 ? metadata : { ...metadata, managedFields: entries },
  }
}
