/**
 * Objects of a kind with the type of their version, and from one version to another. Owners may
 * speak any version the kind has, or had.
 */
import type { Json, KubeObject } from '#api/object-meta.ts'
import { copyWrittenEmpty, hasWrittenEmpty } from '#api/written-empty.ts'
import { type JsonMap, setMember } from '#patch/json-map.ts'
import { RestoreError, restore } from '#patch/restore.ts'
import type { Type } from '#schema/type.ts'
import type { FieldSet } from './field-set.ts'
import { isCustom, Unfit } from './fitness.ts'
import type { Typed, Versions } from './ownership.ts'
import { type ApplyRules, applyRules, newestRules } from './rules.ts'
import { typeProblems } from './validate.ts'
import { zeroOf } from './zero.ts'

export interface FieldManagerKind {
  /** The version the request speaks. */
  readonly apiVersion: string
  /** The kind's name, to refuse configurations of another one. */
  readonly kind?: string
  /** undefined: no such version of the kind. */
  typeFor(apiVersion: string): Type | undefined
  /**
   * In canonical form, whatever form the object is in, which is not changed; undefined: no such
   * version.
   */
  convert(object: KubeObject, toApiVersion: string): KubeObject | undefined
  /**
   * False: entries do not say which subresource they were written through (releases before 1.22).
   */
  readonly saysSubresource?: boolean
  /** The rules of this release; by default the newest. */
  readonly release?: number
  /** What a write through this endpoint resets and so never owns. */
  resetFields(apiVersion: string, subresource: string): FieldSet | undefined
}

export const rulesOf = ({ release }: FieldManagerKind): ApplyRules =>
  release === undefined ? newestRules : applyRules(release)

/** An object of a version its kind does not have. */
export class NoVersion extends Error {}

/** The object in the version of the request, without its managedFields. */
export function typedObject(kind: FieldManagerKind, object: KubeObject): Typed {
  const { apiVersion } = kind
  const type = kind.typeFor(apiVersion)
  const here =
    object.apiVersion === undefined || object.apiVersion === apiVersion
      ? object
      : kind.convert(withoutNulls(object as Json) as KubeObject, apiVersion)
  if (type === undefined || here === undefined) throw new NoVersion(apiVersion)
  if (here.metadata === undefined || !('managedFields' in here.metadata))
    return { object: here, type, apiVersion }
  const { managedFields: _, ...metadata } = here.metadata
  const bare = { ...here, metadata }
  copyWrittenEmpty(here, bare)
  return { object: bare, type, apiVersion }
}

/** What Go makes of nothing: a new object is compared with it. */
export function zeroObject(kind: FieldManagerKind): Typed {
  const { apiVersion } = kind
  const type = kind.typeFor(apiVersion)
  if (type === undefined) throw new NoVersion(apiVersion)
  const header = { apiVersion, ...(kind.kind !== undefined && { kind: kind.kind }) }
  return { object: { ...header, ...zeroOf(type) } as KubeObject, type, apiVersion }
}

/**
 * Null is what removing leaves behind, and means the same as nothing; conversions need not know
 * that.
 */
function withoutNulls(value: Json): Json {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(withoutNulls)
  const out: JsonMap = {}
  for (const name in value) {
    const member = value[name] as Json
    if (member !== null) setMember(out, name, withoutNulls(member))
  }
  return out
}

/** Custom kinds know nothing of Go: what is null there is so in every version. Throws Unfit. */
const convertible = (typed: Typed): KubeObject =>
  isCustom(typed.type) ? typed.object : (withoutNulls(asTyped(typed) as Json) as KubeObject)

/** Throws Unfit, with what is wrong. */
function requireFit(type: Type, object: KubeObject): void {
  const wrong = typeProblems(type, object as Json)
  if (wrong !== undefined) throw new Unfit(wrong)
}

/**
 * Go types are filled from a map by reflection; what has no Go type stays the map it is. Throws
 * Unfit.
 */
export function asTyped({ type, object }: Typed, live?: KubeObject): KubeObject {
  if (type.is !== 'struct' || type.name === '') return object
  try {
    return restore(type, object as Json, live as Json | undefined) as unknown as KubeObject
  } catch (error) {
    if (!(error instanceof RestoreError)) throw error
    throw new Unfit(`unable to convert unstructured object to ${gvkText(object)}: ${error.message}`)
  }
}

/** Empty members are marked, because parts of the object will be taken apart from it. */
const withEmpty = (typed: Typed): Typed =>
  hasWrittenEmpty(typed.object) ? { ...typed, object: asTyped(typed) } : typed

export function gvkText({ apiVersion = '', kind }: KubeObject): string {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return `${group}/${version}, Kind=${typeof kind === 'string' ? kind : ''}`
}

/** Every object is converted to a version once, however many managers speak it. */
export function versionsOf(kind: FieldManagerKind, subresource: string): Versions {
  const done = new Map<KubeObject, Map<string, Typed | undefined>>()
  return {
    rules: rulesOf(kind),
    convert(typed, apiVersion) {
      if (typed.apiVersion === apiVersion) return typed
      let versions = done.get(typed.object)
      if (versions === undefined) {
        versions = new Map()
        done.set(typed.object, versions)
      }
      if (!versions.has(apiVersion)) {
        const type = kind.typeFor(apiVersion)
        const object = type && kind.convert(convertible(typed), apiVersion)
        if (type && object && isCustom(type)) requireFit(type, object)
        versions.set(apiVersion, type && object && withEmpty({ object, type, apiVersion }))
      }
      return versions.get(apiVersion)
    },
    resetFields: (apiVersion) => kind.resetFields(apiVersion, subresource),
  }
}
