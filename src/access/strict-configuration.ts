/**
 * Decodes a configuration file as kube-apiserver's strict decoder does. A value of the wrong type,
 * an unknown field or a repeated key is an error. Without this, a misspelt field could allow
 * anonymous requests.
 */
import type { Json, Loose } from '#api/object-meta.ts'
import { goQuote } from '#api/go-syntax.ts'
import { keysOf, parseJson } from '#codec/json.ts'
import { parseYaml, repeatedKeys } from '#codec/yaml.ts'
import { conform } from '#schema/conform.ts'
import { field, listOf, scalar, structOf } from '#schema/make-type.ts'
import type { Struct, Type } from '#schema/type.ts'
import { undeclared } from '#schema/undeclared.ts'

/** The types of the fields of an object; a list has one element, the type of its items. */
export type Shape = 'string' | 'bool' | readonly [Shape] | { readonly [name: string]: Shape }

/** The type of a file with an apiVersion, a kind and other fields. */
export function configurationType(fields: { readonly [name: string]: Shape }): Struct {
  return structOfShape({ apiVersion: 'string', kind: 'string', ...fields })
}

const structOfShape = (fields: { readonly [name: string]: Shape }): Struct =>
  structOf(
    '',
    Object.entries(fields).map(([name, shape]) => field(name, typeOfShape(shape), 0, 'op')),
  )

function typeOfShape(shape: Shape): Type {
  if (typeof shape === 'string') return scalar(shape)
  return isList(shape) ? listOf(typeOfShape(shape[0])) : structOfShape(shape)
}

const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape)

/** Like parseYaml. `typeOf` throws if the kind is not known. */
export function decodeStrictly(bytes: Buffer, typeOf: (value: Loose) => Struct): Loose {
  const text = bytes.toString('utf8')
  const isJson = /^\s*\{/.test(text)
  const value = isJson ? parseJson(text) : parseYaml(text)
  const type = typeOf((value ?? {}) as Loose)
  const kept = conform(type, value).value
  const unknown = undeclared(type, value, kept)
  const faults = isJson ? faultsOfJson(text, unknown) : faultsOfYaml(bytes, unknown)
  if (faults.length > 0) throw new Error(`strict decoding error: ${faults.join(', ')}`)
  return value as Json as Loose
}

const unknownField = (path: string) => `unknown field ${goQuote(path)}`

/** kube-apiserver converts YAML to JSON, which sorts the keys. */
function faultsOfYaml(bytes: Buffer, unknown: readonly string[]): string[] {
  const repeated = repeatedKeys(bytes)
  return [
    ...(repeated.length > 0 ? [['yaml: unmarshal errors:', ...repeated].join('\n  ')] : []),
    ...unknown.map(unknownField),
  ]
}

/** In the order of the text. The decoder skips the contents of unknown fields. */
function faultsOfJson(text: string, unknown: readonly string[]): string[] {
  const open = new Set(unknown)
  const faults = new Set<string>()
  const isSkipped = (path: string) =>
    unknown.some((one) => path.startsWith(`${one}.`) || path.startsWith(`${one}[`))
  for (const { path, again } of keysOf(text)) {
    if (open.has(path)) faults.add(unknownField(path))
    else if (again && !isSkipped(path)) faults.add(`duplicate field ${goQuote(path)}`)
  }
  return [...faults]
}
