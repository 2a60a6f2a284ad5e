/**
 * Values as cel-go's errors show them, which is Go's `%v`: strings bare, lists in brackets, maps in
 * braces.
 */
import { formatDuration } from '#api/duration.ts'
import { goFloat } from '#api/go-syntax.ts'
import { showTimestamp } from './time.ts'
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.ts'

/**
 * Longest text of a value in an error: a hostile list must not fill the memory with its own
 * message.
 */
const shownLengthMax = 100_000

export function showValue(value: Value): string {
  const text = show(value, 0)
  return text.length > shownLengthMax ? text.slice(0, shownLengthMax) : text
}

/** Deepest nesting that is shown. */
const depthMax = 64

function show(value: Value, depth: number): string {
  if (depth > depthMax) return '...'
  if (typeof value === 'number') return goFloat(value)
  if (typeof value !== 'object') return String(value)
  if (value === null) return 'NULL_VALUE'
  if (value instanceof Uint) return String(value.value)
  if (value instanceof ListValue) return showList(value, depth)
  if (value instanceof MapValue) return showMap(value, depth)
  if (value instanceof Uint8Array) return `[${[...value].join(' ')}]`
  if (value instanceof Timestamp) return showTimestamp(value)
  if (value instanceof Duration) return formatDuration(value.nanos)
  if (value instanceof TypeValue) return value.name
  if (value instanceof CelError) return value.message
  if (value instanceof Optional)
    return value.value === undefined
      ? 'optional.none()'
      : `optional(${show(value.value, depth + 1)})`
  return value.typeName
}

function showList(list: ListValue, depth: number): string {
  const parts: string[] = []
  let length = 0
  for (const element of list) {
    const text = show(element, depth + 1)
    parts.push(text)
    // An empty text takes room too.
    length += text.length + 1
    if (length > shownLengthMax) break
  }
  return `[${parts.join(', ')}]`
}

function showMap(map: MapValue, depth: number): string {
  const parts: string[] = []
  let length = 0
  for (const key of map.keys()) {
    const text = `${show(key, depth + 1)}: ${show(map.find(key) as Value, depth + 1)}`
    parts.push(text)
    // An empty text takes room too.
    length += text.length + 1
    if (length > shownLengthMax) break
  }
  return `{${parts.join(', ')}}`
}
