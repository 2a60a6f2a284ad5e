/**
 * Parses the type of a body before the rest, like kube-apiserver. A body without a valid type is
 * rejected with Go's message; the caller adds the request.
 */
import type { Json } from '#api/object-meta.ts'
import { JsonError } from './json.ts'

export interface BodyHeader {
  /** Empty if the body does not have it. */
  readonly apiVersion: string
  readonly kind: string
}

const goStruct =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

function goKindOf(value: Json): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'bigint' ? 'number' : typeof value
}

/**
 * Parses kind and apiVersion. Throws JsonError if the body is not an object, or if one of them is
 * not a string. A null body has neither.
 */
export function bodyHeader(body: Json): BodyHeader {
  if (body === null) return { apiVersion: '', kind: '' }
  if (typeof body !== 'object' || Array.isArray(body)) {
    throw new JsonError(
      `json: cannot unmarshal ${goKindOf(body)} into Go value of type ${goStruct}`,
    )
  }
  const header = { apiVersion: '', kind: '' }
  for (const key of Object.keys(body)) {
    // Comparing the length excludes most keys quickly.
    if (key.length !== 4 && key.length !== 10) continue
    const name = nameOf(key)
    if (name !== undefined) header[name] = textOf(body[key], name) ?? header[name]
  }
  return header
}

/** Whether a key matches kind or apiVersion, ignoring case. The last of several is used. */
function nameOf(key: string): keyof BodyHeader | undefined {
  if (key === 'kind' || key.toLowerCase() === 'kind') return 'kind'
  return key === 'apiVersion' || key.toLowerCase() === 'apiversion' ? 'apiVersion' : undefined
}

/** Undefined for null, which counts as absent. */
function textOf(value: Json, name: string): string | undefined {
  if (value === null) return undefined
  if (typeof value === 'string') return value
  throw new JsonError(
    `json: cannot unmarshal ${goKindOf(value)} into Go struct field .${name} of type string`,
  )
}

/** Why a text is not a group and version; undefined if it is. */
export const apiVersionFault = (apiVersion: string): string | undefined =>
  apiVersion.split('/').length > 2 ? `unexpected GroupVersion string: ${apiVersion}` : undefined
