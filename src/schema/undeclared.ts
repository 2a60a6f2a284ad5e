/**
 * Lists the members of a value that its type does not declare, which decoding has lost, as sorted
 * paths. It changes nothing.
 *
 *   { metadata: { x: 1 }, spec: { l: [{ n: 1, m: 2 }] } } → ['metadata.x', 'spec.l[0].m']
 */
import type { Json } from '#api/object-meta.ts'
import { scalar } from './make-type.ts'
import { isObject } from './misfit.ts'
import type { Type } from './type.ts'

interface Found {
  readonly paths: string[]
  /** Paths below values of the type that is listed last. */
  readonly last: string[]
  readonly lastType: Type | undefined
}

/**
 * `kept` is the converted value. Members that it has are not reported. Members below a value of
 * `lastType` come after all others.
 */
export function undeclared(
  type: Type,
  value: Json,
  kept: Json | undefined,
  lastType?: Type,
): string[] {
  const found = { paths: [], last: [], lastType }
  walk(type, value, kept, '', found)
  return [...found.paths, ...found.last]
}

/** Objects in place of a list or a scalar have no declared member. */
const memberless = scalar('any')

/** An object without declared members has only those that conversion keeps. */
function memberOf(type: Type, name: string, isKept: boolean): Type | undefined {
  if (type.is === 'map') return isKept || type.memberless !== true ? type.values : undefined
  return type.is === 'struct' ? type.byName.get(name)?.type : undefined
}

function walk(type: Type, value: Json, kept: Json | undefined, path: string, outside: Found): void {
  const found = type === outside.lastType ? { ...outside, paths: outside.last } : outside
  if (Array.isArray(value)) {
    const items = Array.isArray(kept) ? kept : []
    const itemType = type.is === 'list' ? type.items : memberless
    for (const [i, item] of value.entries()) walk(itemType, item, items[i], `${path}[${i}]`, found)
    return
  }
  if (!isObject(value)) return
  if (type.is === 'untyped') {
    walkUntyped(value, kept, path, found.paths)
    return
  }
  if (type.is === 'struct' && type.union === true) return
  for (const name of Object.keys(value).sort()) {
    const at = path === '' ? name : `${path}.${name}`
    const left =
      kept !== undefined && isObject(kept) && Object.hasOwn(kept, name) ? kept[name] : undefined
    const member = memberOf(type, name, left !== undefined)
    if (member !== undefined) walk(member, value[name] as Json, left, at, found)
    else if (left === undefined) found.paths.push(at)
  }
}

/**
 * An untyped value has lost members that are missing in `kept`, for example the members of an
 * object where an int or string is expected.
 */
function walkUntyped(value: Json, kept: Json | undefined, path: string, found: string[]): void {
  if (Array.isArray(value) && Array.isArray(kept))
    for (const [i, item] of value.entries()) walkUntyped(item, kept[i], `${path}[${i}]`, found)
  if (!isObject(value) || kept === undefined || !isObject(kept)) return
  for (const name of Object.keys(value).sort()) {
    const at = `${path}.${name}`
    if (Object.hasOwn(kept, name)) walkUntyped(value[name] as Json, kept[name] as Json, at, found)
    else found.push(at)
  }
}
