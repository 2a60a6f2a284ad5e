/**
 * Where an object of the walk is in a run, under which names, and which of its fields are walked.
 */
import type { Json } from '#api/object-meta.ts'
import type { Struct } from '#schema/type.ts'
import type { FieldChange } from './field-changes.ts'
import { comparedRelease, typeOf } from './types-of-facts.ts'
import type { WalkedObject } from './walked-objects.ts'

export type Body = { [key: string]: Json }

/** What says what an object is, and what is known to differ. */
const notFollowed = new Set([
  'apiVersion',
  'kind',
  'metadata.resourceVersion',
  'metadata.managedFields',
])

/** One shape of a kind in this run: the object, where it is, and the fields that are walked. */
export interface Place {
  readonly title: string
  readonly object: Body
  readonly path: string
  readonly itemPath: string
  readonly type: Struct
  readonly walked: (path: string) => boolean
}

export function placeOf(
  one: WalkedObject,
  id: string,
  field?: RegExp,
  release = comparedRelease,
): Place {
  const object = JSON.parse(JSON.stringify(one.object).replaceAll('{id}', id)) as Body
  const path = `/${one.at}${one.namespaced ? `/namespaces/${id}` : ''}/${one.plural}`
  const name = (object.metadata as Body).name as string
  const under = (path: string, top: string) => path === top || path.startsWith(`${top}.`)
  const depth = (path: string) => path.split('.').length
  return {
    title: `${one.plural}/${one.shape}`,
    object,
    path,
    itemPath: `${path}/${name}`,
    type: typeOf(object.apiVersion as string, object.kind as string, release),
    walked: (path) => {
      if (notFollowed.has(path)) return false
      if (under(path, 'metadata') && path !== 'metadata') {
        if (one.plural !== 'configmaps' && !/^metadata\.(name|generateName)$/.test(path))
          return false
      }
      if (one.below.length > 0 && !one.below.some((top) => under(path, top) || under(top, path))) {
        return false
      }
      if (one.without.some((top) => under(path, top) && depth(path) > depth(top) + 1)) return false
      return field === undefined || field.test(path) || path.length < 8 || !path.includes('.')
    },
  }
}

export const shownChange = ({ path, value }: FieldChange): string =>
  `${path.join('.')} = ${value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 200)}`
