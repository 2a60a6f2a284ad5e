/**
 * The type of a body, read before anything else of it, as kube-apiserver reads it. A body without a
 * readable type is rejected in Go's words; the caller adds the request.
 */
import type { Json } from '#api/object-meta.ts'
import { JsonError } from './json.ts'

export interface BodyHeader {
  /** Empty where the body does not say. */
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

/**
 * Which of the two a key is read as: capitals and small letters are one, and the last of several
 * counts.
 */
function nameOf(key: string): keyof BodyHeader | undefined {
  if (key === 'kind' || key.toLowerCase() === 'kind') return 'kind'
  return key === 'apiVersion' || key.toLowerCase() === 'apiversion' ? 'apiVersion' : undefined
}

/** Undefined for null, which says nothing. */
function textOf(value: Json, name: string): string | undefined {
  if (value === null) return undefined
  if (typeof value === 'string') return value
  throw new JsonError(
    `json: cannot unmarshal ${goKindOf(value)} into Go struct field .${name} of type string`,
  )
}

/** Why a text cannot be a group and version, or undefined where it can. */
export const apiVersionFault = (apiVersion: string): string | undefined =>
  apiVersion.split('/').length > 2 ? `unexpected GroupVersion string: ${apiVersion}` : undefined
