/**
 * Validates embedded objects: their kind, apiVersion and metadata must be as valid as those of any
 * object.
 */
import { change, type Release } from '#api/releases/change.ts'
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { dns1035Label, nameIsPathSegment } from '#api/names.ts'
import type { Json, ObjectMeta } from '#api/object-meta.ts'
import { validateObjectMeta } from '#api/object-meta-rules.ts'
import { isObject, type JsonObject } from '#schema/misfit.ts'
import { isEmbedded, itemsOf, type JsonSchema, propertyOf, valuesOf } from './json-schema.ts'
import { leadsTo } from './leads-to.ts'

const requiresTersely = change(
  'an embedded object without kind or apiVersion lacks a required value',
  {
    since: 34,
  },
)

const leadsToEmbedded = leadsTo(isEmbedded)

/** The metadata is already canonical. */
export function checkEmbedded(
  schema: JsonSchema | undefined,
  value: Json,
  release: Release,
  path = FieldPath.root,
): FieldError[] {
  const errors: FieldError[] = []
  new Search(release, errors).look(schema, value, path)
  return errors
}

class Search {
  readonly #release: Release
  readonly #errors: FieldError[]

  constructor(release: Release, errors: FieldError[]) {
    this.#release = release
    this.#errors = errors
  }

  /** Pushes errors one by one, because a call has a limit of arguments. */
  look(schema: JsonSchema | undefined, value: Json, path: FieldPath): void {
    if (schema === undefined || !leadsToEmbedded(schema)) return
    if (Array.isArray(value)) {
      const items = itemsOf(schema)
      for (const [i, item] of value.entries()) this.look(items, item, path.index(i))
      return
    }
    if (!isObject(value)) return
    if (isEmbedded(schema))
      for (const error of checkTypeAndMeta(value, path, this.#release)) this.#errors.push(error)
    for (const key of Object.keys(value)) {
      const property = propertyOf(schema, key)
      if (property !== undefined) this.look(property, value[key], path.child(key))
      else this.look(valuesOf(schema), value[key], path.key(key))
    }
  }
}

export function checkTypeAndMeta(
  object: JsonObject,
  path: FieldPath,
  release: Release,
): FieldError[] {
  const errors: FieldError[] = []
  const detail = release.has(requiresTersely) ? '' : 'must not be empty'
  const names = ['apiVersion', 'kind'] as const
  for (const name of names) {
    if (!Object.hasOwn(object, name)) errors.push(required(path.child(name), detail))
  }
  for (const name of names.filter((one) => Object.hasOwn(object, one))) {
    const at = path.child(name)
    const value = object[name]
    if (typeof value !== 'string') errors.push(invalid(at, value, 'must be a string'))
    else if (value === '') errors.push(invalid(at, value, 'must not be empty'))
    else errors.push(...(name === 'kind' ? checkKind(value, at) : checkApiVersion(value, at)))
  }
  if (!isObject(object.metadata ?? null)) return errors
  const metadata = object.metadata as unknown as ObjectMeta
  const named = { ...metadata, name: metadata.name || 'fakename' }
  const rule = { namespaced: (metadata.namespace ?? '') !== '', nameRule: nameIsPathSegment }
  errors.push(...validateObjectMeta(named, rule, path.child('metadata')))
  return errors
}

function checkApiVersion(value: string, path: FieldPath): FieldError[] {
  if (value.split('/').length <= 2) return []
  return [invalid(path, value, `unexpected GroupVersion string: ${value}`)]
}

function checkKind(value: string, path: FieldPath): FieldError[] {
  const problems = dns1035Label(value.toLowerCase())
  if (problems.length === 0) return []
  const detail = `may have mixed case, but should otherwise match: ${problems.join(',')}`
  return [invalid(path, value, detail)]
}
