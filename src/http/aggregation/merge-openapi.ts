/**
 * Merges the OpenAPI document of an aggregated server into ours. It adds paths below /apis/ that we
 * do not have, and definitions except those that only other paths need. A definition with our name
 * but different content is renamed. A definition that differs only in its GVKs is merged. Pure.
 */
import { isDeepStrictEqual } from 'node:util'
import { withoutDefaults } from './prune-defaults.ts'

export type Document = {
  paths?: Record<string, unknown>
  definitions?: Record<string, unknown>
} & Record<string, unknown>

type Definitions = Map<string, unknown>

const prefix = '#/definitions/'
const kindsKey = 'x-kubernetes-group-version-kind'

function eachReference(value: unknown, seen: (name: string) => void): void {
  if (Array.isArray(value)) {
    for (const one of value) eachReference(one, seen)
  } else if (typeof value === 'object' && value !== null) {
    const { $ref } = value as { $ref?: unknown }
    if (typeof $ref === 'string' && $ref.startsWith(prefix)) seen($ref.slice(prefix.length))
    for (const one of Object.values(value)) eachReference(one, seen)
  }
}

/** Copies a value and renames its references. */
function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((one) => renamed(one, names))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, one]) => {
    const name = key === '$ref' && typeof one === 'string' ? one.slice(prefix.length) : ''
    const changed = one === `${prefix}${name}` ? names.get(name) : undefined
    return [key, changed === undefined ? renamed(one, names) : `${prefix}${changed}`]
  })
  return Object.fromEntries(entries)
}

/** The names of all definitions that the value references, directly or indirectly. */
function neededBy(value: unknown, definitions: Definitions): Set<string> {
  const needed = new Set<string>()
  const look = (one: unknown): void =>
    eachReference(one, (name) => {
      if (needed.has(name)) return
      needed.add(name)
      look(definitions.get(name))
    })
  look(value)
  return needed
}

/** Merges two documents without changing them. */
export function mergeDocuments(ours: Document, other: Document): Document {
  const paths = new Map(Object.entries(ours.paths ?? {}))
  const taken = Object.entries(other.paths ?? {}).filter(
    ([path]) => path.startsWith('/apis/') && !paths.has(path),
  )
  if (taken.length === 0) return ours
  const theirs = new Map(Object.entries(other.definitions ?? {}))
  const { parameters, responses } = other
  const everNeeded = neededBy([other.paths, parameters, responses], theirs)
  const needed = neededBy([taken, parameters, responses], theirs)
  const kept: Definitions = new Map()
  for (const [name, definition] of theirs) {
    if (needed.has(name) || !everNeeded.has(name)) kept.set(name, withoutDefaults(definition))
  }
  const definitions = new Map(Object.entries(ours.definitions ?? {}))
  const names = namesFor(kept, definitions)
  for (const [name, definition] of kept) {
    const as = names.get(name) ?? name
    const known = definitions.get(as)
    definitions.set(
      as,
      known === undefined ? renamed(definition, names) : ofBoth(known, definition),
    )
  }
  for (const [path, item] of taken) paths.set(path, renamed(item, names))
  return { ...ours, paths: sorted(paths), definitions: sorted(definitions) }
}

const sorted = (map: ReadonlyMap<string, unknown>): Record<string, unknown> =>
  Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)))

/**
 * New names for definitions that conflict with ours: the name of an identical definition, or the
 * next free one.
 */
function namesFor(kept: Definitions, ours: Definitions): Map<string, string> {
  const names = new Map<string, string>()
  const used = new Set(ours.keys())
  for (const [name, definition] of kept) {
    let as = name
    let count = 1
    const next = () => {
      count++
      as = `${name}_v${count}`
    }
    while (ours.has(as) && !isSame(ours.get(as), definition)) next()
    if (as === name) continue
    if (!ours.has(as)) while (used.has(as) || kept.has(as)) next()
    names.set(name, as)
    used.add(as)
  }
  return names
}

/** Ignores descriptions and GVKs: servers describe shared types differently. */
const isSame = (a: unknown, b: unknown): boolean =>
  isDeepStrictEqual(formOf(withoutKinds(a)), formOf(withoutKinds(b)))

function withoutKinds(definition: unknown): unknown {
  if (!isObject(definition)) return definition
  const { [kindsKey]: _, ...others } = definition
  return others
}

function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formOf)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(
    ([key, one]) => key !== 'description' || typeof one !== 'string',
  )
  return Object.fromEntries(kept.map(([key, one]) => [key, formOf(one)]))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Our definition with the GVKs of both. */
function ofBoth(ours: unknown, theirs: unknown): unknown {
  if (!isObject(ours) || !isObject(theirs) || theirs[kindsKey] === undefined) return ours
  const kinds = new Map<string, unknown>()
  const before = [ours[kindsKey] ?? []].flat()
  for (const one of [...before, ...[theirs[kindsKey]].flat()]) {
    const { group = '', version = '', kind = '' } = isObject(one) ? one : {}
    const key = `${group}/${version}.${kind}`
    if (!kinds.has(key)) kinds.set(key, one)
  }
  if (kinds.size === before.length) return ours
  return { ...ours, [kindsKey]: [...kinds.keys()].sort().map((key) => kinds.get(key)) }
}
