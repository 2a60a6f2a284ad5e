/**
 * Checks the type of an object after a webhook has patched it. An object of another known type is
 * decoded as that type and then rejected. Errors have kube-apiserver's messages. Pure.
 */
import { goQuote } from '#api/go-syntax.ts'
import { invalid } from '#api/field-error.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { unregisteredKind } from '#api/release-words.ts'
import { ApiError, invalidObject } from '#api/status-error.ts'
import { readGoJson, refusedWhole } from '#codec/go-json/decode.ts'
import { JsonError } from '#codec/json.ts'
import { apiVersionFault, bodyHeader } from '#codec/type-header.ts'
import type { Kind } from '#kinds/kind.ts'
import { goTypeOf, internalName, isKnownType, type KnownTypes } from '#kinds/known-type.ts'
import { conform } from '#schema/conform.ts'

export interface TypeName {
  readonly apiVersion: string
  readonly kind: string
}

/**
 * The apiVersion and kind of the patched object, as far as present. Throws an Error if one is not a
 * string.
 */
export function statedTypeOf(patched: Loose): TypeName {
  let stated: TypeName
  try {
    stated = bodyHeader(patched as Json)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw new Error(`couldn't get version/kind; json parse error: ${error.message}`)
  }
  const fault = apiVersionFault(stated.apiVersion)
  if (fault !== undefined) throw new Error(fault)
  return stated
}

/** Objects without a built-in type must specify their kind. */
export function requireKind(stated: TypeName, text: () => string): void {
  if (stated.kind !== '') return
  throw new Error(
    refusedWhole(Buffer.from(text()), (value) => `Object 'Kind' is missing in '${value}'`),
  )
}

/**
 * Decodes a patched object as another type. Throws an Error if the type does not exist or the text
 * does not match it.
 */
export function readAsOther(
  types: KnownTypes,
  release: number,
  { apiVersion }: Kind,
  stated: TypeName,
  text: string,
): void {
  if (!isKnownType(types, apiVersion, stated.apiVersion, stated.kind))
    throw new Error(unregisteredKind(stated.kind, `version ${goQuote(stated.apiVersion)}`, release))
  const type = types.typeNamed(stated.apiVersion, stated.kind)
  const read = type && readGoJson(Buffer.from(text), type)
  if (read && 'fault' in read) throw new Error(read.fault)
}

/** Decodes a body by the type of its own kind. Returns it unchanged if the type is unknown. */
export function asBody(types: KnownTypes, own: TypeName, patched: Loose, text: string): KubeObject {
  const type = types.typeNamed(own.apiVersion, own.kind)
  if (type === undefined) return { ...patched, ...own } as KubeObject
  const read = readGoJson(Buffer.from(text), type)
  if ('fault' in read) throw new Error(read.fault)
  return { ...(conform(type, read.value).value as Loose), ...own } as KubeObject
}

/** Rejects an object of another type than the request's. */
export function requireType(
  types: KnownTypes,
  release: number,
  requested: Kind,
  own: TypeName | undefined,
  object: KubeObject,
): void {
  const { kind = '', apiVersion = '' } = object
  const expected = own ?? requested.resource.hub
  if (requested.decoding === 'typed') {
    const isVersion = own === undefined && requested.resource.kindOf(apiVersion) !== undefined
    if (kind === expected.kind && (isVersion || apiVersion === expected.apiVersion)) return
    const into = internalName(expected.apiVersion, expected.kind)
    throw plain(`converting (${goTypeOf(apiVersion, kind)}) to (${into}): unknown conversion`)
  }
  if (own !== undefined) {
    requireScale(types, release, own, { kind, apiVersion })
    return
  }
  if (requested.resource.kindOf(apiVersion) === undefined) {
    const stated = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
    throw plain(
      `${stated}, Kind=${kind} is unstructured and is not suitable for converting to ${goQuote(requested.apiVersion)}`,
    )
  }
  if (kind === expected.kind) return
  const named = { group: requested.group, kind }
  throw invalidObject(named, object.metadata.name ?? '', [
    invalid('kind', kind, `must be ${expected.kind}`),
  ])
}

/** The Scale of a custom kind is untyped until it is decoded as a Scale. */
function requireScale(types: KnownTypes, release: number, own: TypeName, stated: TypeName): void {
  if (stated.kind === own.kind && stated.apiVersion === own.apiVersion) return
  if (stated.apiVersion === '')
    throw plain(`Object 'apiVersion' is missing in 'unstructured object has no version'`)
  if (!isKnownType(types, own.apiVersion, stated.apiVersion, stated.kind))
    throw plain(unregisteredKind(stated.kind, `version ${goQuote(stated.apiVersion)}`, release))
  const from = goTypeOf(stated.apiVersion, stated.kind)
  throw plain(`converting (${from}) to (${goTypeOf(own.apiVersion, own.kind)}): unknown conversion`)
}

const plain = (message: string): ApiError => new ApiError(500, '', message)
