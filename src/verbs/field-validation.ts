/**
 * Reports unknown and duplicate fields of a write with the messages and in the order of releases
 * with `fieldValidation`. Loaded on first use.
 */
import type { Json } from '#api/object-meta.ts'
import { keysOf } from '#codec/json.ts'
import { undeclared } from '#schema/undeclared.ts'
import type { Type } from '#schema/type.ts'
import type { PatchRequest, WriteRequest } from './server.ts'

/**
 * The result of decoding a body. `unknown` lists undeclared fields; for custom kinds they are
 * computed later from `free`.
 */
export interface Reading {
  readonly unknown: readonly string[]
  readonly free?: { readonly type: Type; readonly raw: Json; readonly kept: Json }
}

const unknownField = (path: string) => `unknown field "${path}"`
const duplicateField = (path: string) => `duplicate field "${path}"`

/** Lines of YAML are listed together if the write is rejected. */
export interface ReportedFields {
  readonly lines: readonly string[]
  readonly fields: readonly string[]
}

export function reportedFields(
  request: WriteRequest | PatchRequest,
  reading: Reading,
): ReportedFields {
  const unknown = unknownOf(reading)
  if ('patchType' in request) {
    const text = request.patchBytes.toString('utf8')
    const stated = request.patchType === 'json' ? operationFaults(text) : duplicatesOf(text)
    return { lines: [], fields: [...stated, ...unknown.map(unknownField)] }
  }
  const found = request.strictFaults?.()
  if (found !== undefined) return { lines: [], fields: found }
  const lines = request.repeatedKeys?.() ?? []
  const text = request.text?.()?.toString('utf8')
  if (text === undefined) return { lines, fields: unknown.map(unknownField) }
  const free = reading.free !== undefined
  const fields = free
    ? [...duplicatesOf(text), ...unknown.map(unknownField)]
    : inOrder(text, unknown)
  return { lines, fields }
}

/**
 * For a custom kind the metadata is decoded first, with its own type, and the metadata of embedded
 * objects last.
 */
function unknownOf({ unknown, free }: Reading): readonly string[] {
  if (free === undefined) return unknown
  const { type } = free
  const metadataType = type.is === 'struct' ? type.byName.get('metadata')?.type : undefined
  const found = undeclared(type, free.raw, free.kept, metadataType)
  const ofMetadata = (path: string) => path.startsWith('metadata.')
  return [...found.filter(ofMetadata), ...found.filter((path) => !ofMetadata(path))]
}

const duplicatesOf = (text: string): string[] => [
  ...new Set(keysOf(text).flatMap(({ path, again }) => (again ? [duplicateField(path)] : []))),
]

/** In the order of Go's decoder, which skips the contents of unknown fields. */
function inOrder(text: string, unknown: readonly string[]): string[] {
  const open = new Set(unknown)
  const stated = new Set<string>()
  let skipped: string | undefined
  for (const { path, again } of keysOf(text)) {
    if (skipped !== undefined && isBelow(path, skipped)) continue
    skipped = undefined
    if (open.has(path)) {
      stated.add(unknownField(path))
      skipped = path
    } else if (again) stated.add(duplicateField(path))
  }
  for (const path of unknown) stated.add(unknownField(path))
  return [...stated]
}

const isBelow = (path: string, above: string): boolean =>
  path.startsWith(above) && (path[above.length] === '.' || path[above.length] === '[')

const operationMembers = new Set(['op', 'path', 'from', 'value'])

function operationFaults(text: string): string[] {
  const stated = new Set<string>()
  for (const { path, again } of keysOf(text)) {
    const member = /^\[\d+\]\.([^.[]*)$/.exec(path)?.[1]
    if (member !== undefined && !operationMembers.has(member)) {
      stated.add(`json patch ${unknownField(path)}`)
    } else if (again) stated.add(`json patch ${duplicateField(path)}`)
  }
  return [...stated]
}
