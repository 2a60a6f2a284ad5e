/**
 * Decodes and encodes metadata.managedFields: the field set, operation, version and time of each
 * manager. A manager is identified by name, operation and subresource, and for updates also by
 * version.
 */
import type { Loose, ManagedFieldsEntry } from '#api/object-meta.ts'
import { goQuote } from '#api/go-syntax.ts'
import { type FieldSet, equalSets, isEmptySet, parseFieldSet } from './field-set.ts'
import { goJson } from './path-element.ts'

/** The fields of one manager. */
export interface Owned {
  readonly set: FieldSet
  readonly apiVersion: string
  readonly applied: boolean
  /** The manager, if it is known without parsing the identity. */
  readonly who?: Manager
}

export interface Managed {
  /** By the manager's identity. */
  readonly owned: Map<string, Owned>
  /** RFC 3339; undefined if the client wrote an entry without a time. */
  readonly times: Map<string, string | undefined>
}

export const nobody = (): Managed => ({ owned: new Map(), times: new Map() })

export interface Manager {
  manager: string
  operation: 'Apply' | 'Update'
  apiVersion: string
  subresource: string
}

/** The identity of a manager, which is also the last criterion of sorting. */
export function identityOf({ manager, operation, apiVersion, subresource }: Manager): string {
  let text = manager === '' ? '' : `"manager":${goJson(manager)},`
  text += `"operation":"${operation}"`
  if (operation === 'Update' && apiVersion !== '') text += `,"apiVersion":${goJson(apiVersion)}`
  if (subresource !== '') text += `,"subresource":${goJson(subresource)}`
  return `{${text}}`
}

export function managerOf(identity: string): Manager {
  const {
    manager = '',
    operation = 'Update',
    apiVersion = '',
    subresource = '',
  } = JSON.parse(identity)
  return { manager, operation, apiVersion, subresource }
}

/** Throws a plain Error with kube-apiserver's message if an entry is invalid. */
export function decodeManaged(entries: readonly ManagedFieldsEntry[] | null | undefined): Managed {
  const managed = nobody()
  for (const [i, entry] of (entries ?? []).entries()) {
    const {
      manager = '',
      operation,
      apiVersion = '',
      fieldsType = '',
      subresource = '',
    } = entry ?? {}
    if (operation !== 'Apply' && operation !== 'Update') {
      throw new Error('operation must be `Apply` or `Update`')
    }
    if (apiVersion === '') throw new Error('apiVersion must not be empty')
    if (fieldsType === '') throw new Error(`missing fieldsType in managed fields entry ${i}`)
    if (fieldsType !== 'FieldsV1') {
      throw new Error(`invalid fieldsType ${goQuote(fieldsType)} in managed fields entry ${i}`)
    }
    const who: Manager = { manager, operation, apiVersion, subresource }
    const identity = identityOf(who)
    const set = parseFieldSet(entry.fieldsV1 ?? {})
    managed.owned.set(identity, { set, apiVersion, applied: operation === 'Apply', who })
    managed.times.set(identity, entry.time ?? undefined)
  }
  return managed
}

/** Sorts like kube-apiserver: Apply entries first, then by time, name, version and subresource. */
export function encodeManaged({ owned, times }: Managed): ManagedFieldsEntry[] {
  const entries: ManagedFieldsEntry[] = []
  for (const [identity, { set, apiVersion, applied, who }] of owned) {
    const { manager, operation, subresource } = who ?? managerOf(identity)
    const time = times.get(identity)
    entries.push(
      entryOf(manager, applied ? 'Apply' : operation, apiVersion, time, set, subresource),
    )
  }
  return entries.length > 1 ? entries.sort(compareEntries) : entries
}

/** Makes an entry with its members in Go's order. */
export function entryOf(
  manager: string,
  operation: 'Apply' | 'Update',
  apiVersion: string,
  time: string | undefined,
  set: FieldSet,
  subresource: string,
): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = {}
  if (manager !== '') entry.manager = manager
  entry.operation = operation
  entry.apiVersion = apiVersion
  if (time !== undefined) entry.time = time
  entry.fieldsType = 'FieldsV1'
  entry.fieldsV1 = set as Loose
  if (subresource !== '') entry.subresource = subresource
  return entry
}

const secondsOf = (time: string | undefined): number =>
  time === undefined ? 0 : Math.floor(Date.parse(time) / 1000) || 0
const order = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0)

function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return (
    order(a.operation, b.operation) ||
    secondsOf(a.time) - secondsOf(b.time) ||
    order(a.manager, b.manager) ||
    order(a.apiVersion, b.apiVersion) ||
    order(a.subresource, b.subresource)
  )
}

export function equalOwners(a: Map<string, Owned>, b: Map<string, Owned>): boolean {
  if (a.size !== b.size) return false
  for (const [identity, mine] of a) {
    const other = b.get(identity)
    if (other === undefined) return false
    if (mine.apiVersion !== other.apiVersion || mine.applied !== other.applied) return false
    if (!equalSets(mine.set, other.set)) return false
  }
  return true
}

export function dropEmpty(owned: Map<string, Owned>): void {
  for (const [identity, { set }] of owned) if (isEmptySet(set)) owned.delete(identity)
}

/** Whether a client requests a reset of managedFields, with a list of one empty entry. */
export const isReset = (entries: readonly ManagedFieldsEntry[] | null | undefined): boolean =>
  entries?.length === 1 && Object.keys(entries[0] ?? {}).length === 0

/** The versions in the entries, which a caller with asynchronous conversions must provide. */
export const versionsOf = (entries: readonly ManagedFieldsEntry[] | undefined): Set<string> =>
  new Set(
    (entries ?? []).flatMap(({ apiVersion }) => (apiVersion === undefined ? [] : [apiVersion])),
  )
