/**
 * Another server's OpenAPI document laid into ours: its paths below its own group, and the definitions they need. A
 * definition of the same name but other content gets a name of its own. Pure.
 */
import { isDeepStrictEqual } from 'node:util'

export type Document = {
  paths?: Record<string, unknown>
  definitions?: Record<string, unknown>
} & Record<string, unknown>

const prefix = '#/definitions/'

function eachReference(
  value: unknown,
  seen: (name: string, holder: { $ref: string }) => void,
): void {
  if (Array.isArray(value)) {
    for (const one of value) eachReference(one, seen)
  } else if (typeof value === 'object' && value !== null) {
    const holder = value as { $ref?: unknown }
    if (typeof holder.$ref === 'string' && holder.$ref.startsWith(prefix)) {
      seen(holder.$ref.slice(prefix.length), holder as { $ref: string })
    }
    for (const one of Object.values(value)) eachReference(one, seen)
  }
}

/** Changes neither. `group`: paths of the other document below `/apis/<group>/` are taken, others are not. */
export function mergeDocuments(ours: Document, other: Document, group: string): Document {
  const taken: Record<string, unknown> = {}
  for (const [path, item] of Object.entries(other.paths ?? {})) {
    if (path.startsWith(`/apis/${group}/`) && ours.paths?.[path] === undefined)
      taken[path] = structuredClone(item)
  }
  const theirs = new Map(Object.entries(other.definitions ?? {}))
  const needed = new Map<string, unknown>()
  const need = (value: unknown): void =>
    eachReference(value, (name) => {
      if (needed.has(name) || !theirs.has(name)) return
      needed.set(name, structuredClone(theirs.get(name)))
      need(needed.get(name))
    })
  need(taken)
  const named = namesFor(needed, ours.definitions ?? {})
  const rename = (value: unknown) =>
    eachReference(value, (name, holder) => {
      const changed = named.get(name)
      if (changed !== undefined) holder.$ref = `${prefix}${changed}`
    })
  rename(taken)
  const definitions = { ...ours.definitions }
  for (const [name, definition] of needed) {
    const as = named.get(name) ?? name
    if (definitions[as] !== undefined) continue
    rename(definition)
    definitions[as] = definition
  }
  return { ...ours, paths: { ...ours.paths, ...taken }, definitions }
}

function namesFor(
  needed: ReadonlyMap<string, unknown>,
  ours: Readonly<Record<string, unknown>>,
): Map<string, string> {
  const named = new Map<string, string>()
  for (const [name, definition] of needed) {
    if (ours[name] === undefined || isDeepStrictEqual(ours[name], definition)) continue
    let count = 2
    while (ours[`${name}_v${count}`] !== undefined || needed.has(`${name}_v${count}`)) count++
    named.set(name, `${name}_v${count}`)
  }
  return named
}
