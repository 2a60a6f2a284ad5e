/**
 * Shows webhooks the lists and maps that the client wrote empty as `[]` and `{}`. In canonical form
 * such a field is null if its type always writes it. That is correct only for stored objects. The
 * input is not changed.
 */
import type { Json, KubeObject } from '#api/object-meta.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'
import type { Type } from '#schema/type.ts'
import { setKey } from '#schema/user-key.ts'

export const withEmpty = (type: Type, object: KubeObject): KubeObject =>
  shown(type, object as Json) as unknown as KubeObject

function shown(type: Type, value: Json): Json {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return type.is === 'list' ? shownItems(type.items, value) : value
  if (type.is === 'map') return shownMembers(value, () => type.values)
  return type.is === 'struct' ? shownMembers(value, (name) => type.byName.get(name)?.type) : value
}

function shownItems(type: Type, items: Json[]): Json[] {
  let out = items
  for (const [i, item] of items.entries()) {
    const next = shown(type, item)
    if (next === item) continue
    if (out === items) out = [...items]
    out[i] = next
  }
  return out
}

type Members = { [name: string]: Json }

function shownMembers(members: Members, typeOf: (name: string) => Type | undefined): Json {
  let out = members
  for (const name of Object.keys(members)) {
    const type = typeOf(name)
    const member = members[name]
    if (type === undefined) continue
    const next = isEmptied(members, name) ? emptyOf(type) : shown(type, member)
    if (next === member) continue
    if (out === members) out = { ...members }
    setKey(out, name, next)
  }
  return out
}

const isEmptied = (members: Members, name: string): boolean =>
  members[name] === null && wasWrittenEmpty(members, name)

const emptyOf = ({ is }: Type): Json => (is === 'list' ? [] : is === 'map' ? {} : null)
