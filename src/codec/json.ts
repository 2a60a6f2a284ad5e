/**
 * JSON bytes ⇄ values. Invalid text is rejected in Go's words; integers are exact; nesting has a
 * limit. Bytes that are not UTF-8 become U+FFFD, as they do in Go. The last of equal keys wins; a
 * caller that needs duplicates checks whether the value is odd.
 */
import './exact-integer.ts'
import type { Json } from '#api/object-meta.ts'
import { exactNumber } from './exact-integer.ts'
import { outlineOf } from './json-outline.ts'
import { faultOf, scanJson, scanJsonBytes } from './json-scan.ts'

/**
 * Deepest nesting we decode: room for a schema inside a schema, too little to exhaust the stack.
 */
export const nestingDepthMax = 300

/**
 * The limit for stored objects: a body as deep as may be, and in it the owners of its fields, a few
 * steps deeper.
 */
export const storedDepthMax = 2 * nestingDepthMax

/** Text that is no JSON. The message is Go's; the caller adds the request. */
export class JsonError extends Error {
  override name = 'JsonError'
}

type Shape = 'fine' | 'too deep' | 'inexact'

/**
 * What JSON.parse's result alone reveals: how deep it is, and whether it holds integers that were
 * rounded.
 */
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

/** The value of a JSON text. Throws JsonError. */
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

/** What was stored. */
export const decodeJson = (bytes: Buffer): Json => parseJson(bytes.toString('utf8'), storedDepthMax)

/**
 * Values of texts that say more than their value shows: keys twice, or numbers other than short
 * integers.
 */
const oddValues = new WeakSet<object>()

export const isOdd = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && oddValues.has(value)

/**
 * Whether an odd value has a number that is larger than there are: JSON has no word for what it was
 * read as.
 */
export function isTooLarge(value: Json): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return false
  for (const name in value)
    if (isTooLarge((value as Record<string, Json>)[name] as Json)) return true
  return false
}

/** For values made of odd ones. */
export function markOdd(value: Json): void {
  if (typeof value === 'object' && value !== null) oddValues.add(value)
}

const escapes = /\\(u[dD][89abAB]..)(\\u[dD][c-fC-F]..)?|\\u[dD][c-fC-F]..|\\./g

/** Halves of characters that are written without the other half are read as none, as by Go. */
const withoutHalves = (text: string): string =>
  text.includes('\\ud') || text.includes('\\uD')
    ? text.replaceAll(escapes, (escape, high?: string, low?: string) =>
        (high !== undefined && low === undefined) || /^\\u[dD][c-fC-F]/.test(escape)
          ? '\\ufffd'
          : escape,
      )
    : text

/** What a client wrote: as decodeJson, and whether it is odd is remembered. */
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
 * `pretty` indents by two spaces, as kube-apiserver does for people; else it is one line, with its
 * end.
 */
export const encodeJson = (value: unknown, pretty = false): Buffer =>
  Buffer.from(pretty ? JSON.stringify(value, null, 2) : `${JSON.stringify(value)}\n`)

export interface KeyMet {
  readonly path: string
  /** The same object had it before. */
  readonly again: boolean
}

/** Every key of a text in the order they are written. */
export function keysOf(text: string): KeyMet[] {
  const met: KeyMet[] = []
  scanJson(text, nestingDepthMax, (path, again) => met.push({ path, again }))
  return met
}
