/**
 * Objects with the type of their version, and conversions between versions. Managers may use any
 * version that the kind has or had.
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
  /** The version of the request. */
  readonly apiVersion: string
  /** The kind's name; configurations of other kinds are rejected. */
  readonly kind?: string
  /** undefined if the kind does not have this version. */
  typeFor(apiVersion: string): Type | undefined
  /**
   * Returns a canonical copy in the version; undefined if the kind does not have it. The object may
   * be in any form and is not changed.
   */
  convert(object: KubeObject, toApiVersion: string): KubeObject | undefined
  /** False if entries do not record the subresource (releases before 1.22). */
  readonly saysSubresource?: boolean
  /** The release whose rules apply; default: the newest. */
  readonly release?: number
  /** The fields that a write through this endpoint resets and therefore does not own. */
  resetFields(apiVersion: string, subresource: string): FieldSet | undefined
}

export const rulesOf = ({ release }: FieldManagerKind): ApplyRules =>
  release === undefined ? newestRules : applyRules(release)

/** The kind does not have the version of the object. */
export class NoVersion extends Error {}

/** The object in the version of the request, without managedFields. */
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

/** Go's zero value of the type, with which a new object is compared. */
export function zeroObject(kind: FieldManagerKind): Typed {
  const { apiVersion } = kind
  const type = kind.typeFor(apiVersion)
  if (type === undefined) throw new NoVersion(apiVersion)
  const header = { apiVersion, ...(kind.kind !== undefined && { kind: kind.kind }) }
  return { object: { ...header, ...zeroOf(type) } as KubeObject, type, apiVersion }
}

/**
 * Removes nulls, which a patch leaves behind and conversions need not handle; they mean the same as
 * absent members.
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

/** Custom kinds have no Go type, so they keep their nulls in every version. Throws Unfit. */
const convertible = (typed: Typed): KubeObject =>
  isCustom(typed.type) ? typed.object : (withoutNulls(asTyped(typed) as Json) as KubeObject)

/** Throws Unfit with the type errors. */
function requireFit(type: Type, object: KubeObject): void {
  const wrong = typeProblems(type, object as Json)
  if (wrong !== undefined) throw new Unfit(wrong)
}

/**
 * Fills a Go type from a map, like kube-apiserver's reflection; an object without a Go type remains
 * a map. Throws Unfit.
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

/** Marks empty members, because parts of the object are compared separately. */
const withEmpty = (typed: Typed): Typed =>
  hasWrittenEmpty(typed.object) ? { ...typed, object: asTyped(typed) } : typed

export function gvkText({ apiVersion = '', kind }: KubeObject): string {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return `${group}/${version}, Kind=${typeof kind === 'string' ? kind : ''}`
}

/** Converts an object to each version at most once, even if several managers use the version. */
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
