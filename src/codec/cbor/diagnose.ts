/**
 * Formats data items in diagnostic notation (RFC 8949, section 8), which messages show. Example:
 * the tag 55799 around `a1 41 61 01` is `55799({'a': 1})`.
 */
import type { Item } from './item.ts'
import { isUtf8, signedOf } from './untyped.ts'

export function diagnose(item: Item): string {
  switch (item.is) {
    case 'positive':
    case 'negative':
      return String(signedOf(item))
    case 'bytes':
      return isUtf8(item.bytes) ? quoted(item.bytes, "'") : `h'${item.bytes.toString('hex')}'`
    case 'text':
      return quoted(item.bytes, '"')
    case 'array':
      return `[${item.items.map(diagnose).join(', ')}]`
    case 'map':
      return `{${item.pairs.map(([key, one]) => `${diagnose(key)}: ${diagnose(one)}`).join(', ')}}`
    case 'tag':
      return `${item.number}(${diagnose(item.content)})`
    case 'simple':
      return simpleNames.get(item.value) ?? `simple(${item.value})`
    case 'float':
      return Number.isInteger(item.value) ? item.value.toFixed(1) : String(item.value)
  }
}

const simpleNames: ReadonlyMap<number, string> = new Map([
  [20, 'false'],
  [21, 'true'],
  [22, 'null'],
  [23, 'undefined'],
])

/** Escaped as in JSON. */
const quoted = (bytes: Buffer, mark: string): string => {
  const inside = JSON.stringify(bytes.toString('utf8')).slice(1, -1)
  const escaped = mark === '"' ? inside : inside.replaceAll('\\"', '"').replaceAll("'", "\\'")
  return mark + escaped + mark
}
