/**
 * What a body says it is, read before anything else of it, as kube-apiserver reads it. A body that cannot say so is
 * refused in Go's words; who asked adds in which request.
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

/** Throws JsonError for what has no header, and for one that is no text; null is a body that says nothing. */
export function bodyHeader(body: Json): BodyHeader {
  if (body === null) return { apiVersion: '', kind: '' }
  if (typeof body !== 'object' || Array.isArray(body)) {
    throw new JsonError(
      `json: cannot unmarshal ${goKindOf(body)} into Go value of type ${goStruct}`,
    )
  }
  return { apiVersion: textOf(body, 'apiVersion'), kind: textOf(body, 'kind') }
}

function textOf(body: { [key: string]: Json }, name: string): string {
  const value = Object.hasOwn(body, name) ? body[name] : null
  if (value === null) return ''
  if (typeof value === 'string') return value
  throw new JsonError(
    `json: cannot unmarshal ${goKindOf(value)} into Go struct field .${name} of type string`,
  )
}

/** Why a text cannot be a group and version, or undefined where it can. */
export const apiVersionFault = (apiVersion: string): string | undefined =>
  apiVersion.split('/').length > 2 ? `unexpected GroupVersion string: ${apiVersion}` : undefined
