/**
 * Decodes and encodes JSON. Errors have Go's messages, integers are exact, and nesting is limited.
 * Invalid UTF-8 becomes U+FFFD, as in Go. The last of duplicate keys wins; callers that need
 * duplicates check whether the value is odd.
 */
import './exact-integer.ts'
import type { Json } from '#api/object-meta.ts'
import { exactNumber } from './exact-integer.ts'
import { outlineOf } from './json-outline.ts'
import { faultOf, scanJson, scanJsonBytes } from './json-scan.ts'

/**
 * The nesting limit of decoded bodies: enough for nested schemas, too little to exhaust the stack.
 */
export const nestingDepthMax = 300

/**
 * The nesting limit of stored objects: the deepest body plus its managedFields, which are a few
 * levels deeper.
 */
export const storedDepthMax = 2 * nestingDepthMax

/** Invalid JSON. The message is Go's; the caller adds the request. */
export class JsonError extends Error {
  override name = 'JsonError'
}

type Shape = 'fine' | 'too deep' | 'inexact'

/** Checks a parsed value for its depth and for rounded integers. */
function shapeOf(value: object, depthLeft: number): Shape {
  if (depthLeft === 0) return 'too deep'
  let shape: Shape = 'fine'
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && shape !== 'too deep'; i++) {
      const inner = shapeOfChild(value[i], depthLeft)
      if (inner !== 'fine') shape = inner
    }
    return shape
  }
  for (const key in value) {
    const inner = shapeOfChild((value as Record<string, unknown>)[key], depthLeft)
    if (inner === 'fine') continue
    shape = inner
    if (inner === 'too deep') break
  }
  return shape
}

function shapeOfChild(child: unknown, depthLeft: number): Shape {
  if (typeof child === 'object' && child !== null) return shapeOf(child, depthLeft - 1)
  return typeof child === 'number' && isRounded(child) ? 'inexact' : 'fine'
}

const isRounded = (value: number) => Number.isInteger(value) && !Number.isSafeInteger(value)

const keepExact = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && context?.source !== undefined
    ? exactNumber(value, context.source)
    : value

/** Parses a JSON text. Throws JsonError. */
export function parseJson(text: string, depthMax = nestingDepthMax): Json {
  let value: Json
  try {
    value = JSON.parse(text)
  } catch {
    throw new JsonError(faultOf(scanJson(text, depthMax)))
  }
  if (typeof value === 'number') return isRounded(value) ? JSON.parse(text, keepExact) : value
  if (typeof value !== 'object' || value === null) return value
  const shape = shapeOf(value, depthMax)
  if (shape === 'fine') return value
  if (shape === 'inexact') return JSON.parse(text, keepExact)
  throw new JsonError(scanJson(text, depthMax).fault ?? 'exceeded max depth')
}

/** Parses a stored object. */
export const decodeJson = (bytes: Buffer): Json => parseJson(bytes.toString('utf8'), storedDepthMax)

/**
 * Values whose text has information that the value lacks: duplicate keys, fractions or long
 * numbers.
 */
const oddValues = new WeakSet<object>()

export const isOdd = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && oddValues.has(value)

/**
 * Whether the value contains a number beyond the range of a double. It was parsed as Infinity,
 * which JSON cannot represent.
 */
export function isTooLarge(value: Json): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return false
  for (const name in value)
    if (isTooLarge((value as Record<string, Json>)[name] as Json)) return true
  return false
}

/** Marks a value derived from an odd value. */
export function markOdd(value: Json): void {
  if (typeof value === 'object' && value !== null) oddValues.add(value)
}

const escapes = /\\(u[dD][89abAB]..)(\\u[dD][c-fC-F]..)?|\\u[dD][c-fC-F]..|\\./g

/** Replaces escapes of lone surrogates by U+FFFD, as Go does. */
const withoutHalves = (text: string): string =>
  text.includes('\\ud') || text.includes('\\uD')
    ? text.replaceAll(escapes, (escape, high?: string, low?: string) =>
        (high !== undefined && low === undefined) || /^\\u[dD][c-fC-F]/.test(escape)
          ? '\\ufffd'
          : escape,
      )
    : text

/** Decodes a body, and marks it as odd if its text has more information than its value. */
export function decodeWritten(bytes: Buffer): Json {
  const text = withoutHalves(bytes.toString('utf8'))
  let value: Json
  try {
    value = JSON.parse(text)
  } catch {
    throw new JsonError(faultOf(scanJsonBytes(bytes, nestingDepthMax)))
  }
  const { keys, depth, fractions, longNumbers } = outlineOf(bytes)
  if (depth > nestingDepthMax) {
    throw new JsonError(scanJson(text, nestingDepthMax).fault ?? 'exceeded max depth')
  }
  if (longNumbers) value = JSON.parse(text, keepExact)
  if (fractions || longNumbers || keysIn(value) !== keys) markOdd(value)
  return value
}

/** Whether the bytes are JSON in which no object has a key twice. Cheaper than listing the keys. */
export function hasUniqueKeys(bytes: Buffer): boolean {
  try {
    return keysIn(JSON.parse(bytes.toString('utf8'))) === outlineOf(bytes).keys
  } catch {
    return false
  }
}

function keysIn(value: unknown): number {
  let keys = 0
  if (typeof value !== 'object' || value === null) return keys
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item = value[i]
      if (typeof item === 'object') keys += keysIn(item)
    }
    return keys
  }
  for (const key in value) {
    keys++
    const member = (value as Record<string, unknown>)[key]
    if (typeof member === 'object') keys += keysIn(member)
  }
  return keys
}

/**
 * `pretty` indents by two spaces, as kube-apiserver does; otherwise the result is one line with a
 * line break.
 */
export const encodeJson = (value: unknown, pretty = false): Buffer =>
  Buffer.from(pretty ? JSON.stringify(value, null, 2) : `${JSON.stringify(value)}\n`)

export interface KeyMet {
  readonly path: string
  /** The same object already had this key. */
  readonly again: boolean
}

/** All keys of a text in order. */
export function keysOf(text: string): KeyMet[] {
  const met: KeyMet[] = []
  scanJson(text, nestingDepthMax, (path, again) => met.push({ path, again }))
  return met
}
