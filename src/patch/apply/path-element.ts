/**
 * One element of a path, in the format of managedFields, and the order of elements.
 *
 *   f:spec                                a field of a struct or a key of a map
 *   k:{"containerPort":80,"protocol":"TCP"}   the list item with these keys
 *   v:"kubernetes"                        the set item with this value
 *   i:3                                   the item at an index
 *
 * Texts are canonical, so two elements are equal exactly if their texts are.
 */
import { byCodePoint, goFloat, goQuote, namesInOrder } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'

const plainText = /^[ !#-%'-;=?-[\]-~]*$/
const writtenOtherwise = /\\.|[<>&\u2028\u2029]/g

/**
 * JSON as Go's encoder writes it: no spaces, sorted members, and escaped HTML characters. Integers
 * that a double cannot represent are bigint.
 */
export function goJson(value: Json | bigint): string {
  if (typeof value === 'string') {
    if (plainText.test(value)) return `"${value}"`
    return JSON.stringify(value).replace(writtenOtherwise, (part) => {
      if (part === '\\b') return '\\u0008'
      if (part === '\\f') return '\\u000c'
      return part.length > 1 ? part : `\\u${part.charCodeAt(0).toString(16).padStart(4, '0')}`
    })
  }
  if (typeof value === 'bigint') return String(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`
  const members = namesInOrder(value)
  return `{${members.map((name) => `${goJson(name)}:${goJson(value[name] as Json)}`).join(',')}}`
}

export const fieldElement = (name: string): string => `f:${name}`
export const valueElement = (value: Json): string => `v:${goJson(value)}`

/** The names in byte order. */
export function keyElement(names: readonly string[], values: readonly Json[]): string {
  let text = ''
  for (let i = 0; i < names.length; i++) {
    text += `${i === 0 ? '' : ','}${JSON.stringify(names[i])}:${goJson(values[i] as Json)}`
  }
  return `k:{${text}}`
}

const kindOrder = { f: 0, k: 1, v: 2, i: 3 } as Record<string, number>

/**
 * kube-apiserver's order of the path elements of one level: fields, then keys, then values, then
 * indexes.
 */
export function compareElements(a: string, b: string): number {
  if (a === b) return 0
  const kind = a.charCodeAt(0)
  if (kind !== b.charCodeAt(0))
    return (kindOrder[a[0] as string] ?? 4) - (kindOrder[b[0] as string] ?? 4)
  if (kind === 102) return byCodePoint(a, b)
  if (kind === 105) return Number(a.slice(2)) - Number(b.slice(2))
  const left = JSON.parse(a.slice(2)) as Json
  const right = JSON.parse(b.slice(2)) as Json
  return kind === 107
    ? compareKeys(left as Record<string, Json>, right as Record<string, Json>)
    : compareValues(left, right)
}

function compareKeys(a: Record<string, Json>, b: Record<string, Json>): number {
  const names = Object.keys(a)
  const others = Object.keys(b)
  for (let i = 0; i < names.length && i < others.length; i++) {
    const name = names[i] as string
    const byName = byCodePoint(name, others[i] as string)
    if (byName !== 0) return byName
    const byValue = compareValues(a[name] as Json, b[name] as Json)
    if (byValue !== 0) return byValue
  }
  return names.length - others.length
}

/** The rank of a type: numbers, then strings, booleans, lists, maps, null. */
const valueRank = (value: Json | bigint): number => {
  if (typeof value === 'number' || typeof value === 'bigint') return 0
  if (typeof value === 'string') return 1
  if (typeof value === 'boolean') return 2
  if (Array.isArray(value)) return 3
  return value === null ? 5 : 4
}

/** A total order of JSON values. */
function compareValues(a: Json, b: Json): number {
  const rank = valueRank(a)
  const byRank = rank - valueRank(b)
  if (byRank !== 0) return byRank
  if (rank === 0) return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0
  if (rank === 1) return byCodePoint(a as string, b as string)
  if (rank === 2) return Number(a) - Number(b)
  if (rank === 3) return compareLists(a as Json[], b as Json[])
  if (rank === 4) return compareMaps(a as Record<string, Json>, b as Record<string, Json>)
  return 0
}

function compareLists(a: Json[], b: Json[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const order = compareValues(a[i] as Json, b[i] as Json)
    if (order !== 0) return order
  }
  return a.length - b.length
}

function compareMaps(a: Record<string, Json>, b: Record<string, Json>): number {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort(byCodePoint)
  for (const name of names) {
    if (!Object.hasOwn(a, name)) return 1
    if (!Object.hasOwn(b, name)) return -1
    const order = compareValues(a[name] as Json, b[name] as Json)
    if (order !== 0) return order
  }
  return 0
}

/**
 * The canonical text of a path element that a client wrote. Undefined for unknown types of path
 * elements, which are ignored. Throws a plain Error with kube-apiserver's message for an invalid
 * one.
 */
export function canonicalElement(text: string): string | undefined {
  if (text.startsWith('f:')) return text
  if (text.length < 2) throw new Error('key must be 2 characters long:')
  if (text[1] !== ':') throw new Error(`missing colon: ${text}`)
  const kind = text[0]
  if (kind === 'v') return `v:${goJson(JSON.parse(text.slice(2)) as Json)}`
  if (kind === 'k') return canonicalKey(JSON.parse(text.slice(2)) as Json)
  if (kind !== 'i') return undefined
  if (!/^[+-]?\d+$/.test(text.slice(2))) {
    throw new Error(`strconv.Atoi: parsing ${goQuote(text.slice(2))}: invalid syntax`)
  }
  return `i:${Number(text.slice(2))}`
}

function canonicalKey(key: Json): string {
  if (key === null || typeof key !== 'object' || Array.isArray(key)) {
    throw new Error(`ReadObjectCB: expect { or n`)
  }
  const names = namesInOrder(key)
  return keyElement(
    names,
    names.map((name) => key[name] as Json),
  )
}

/**
 * An element as messages show it: `.spec`, `[name="a"]`, `[="kubernetes"]`, `[3]`. Conflicts print
 * numbers like Go's floats, because managedFields are decoded from JSON. Validation errors print
 * integers in full.
 */
export function elementText(
  element: string,
  numberText: (value: number) => string = goFloat,
): string {
  const rest = element.slice(2)
  switch (element[0]) {
    case 'f':
      return `.${rest}`
    case 'i':
      return `[${rest}]`
    case 'v':
      return `[=${valueText(JSON.parse(rest) as Json, numberText)}]`
    default: {
      const key = JSON.parse(rest) as Record<string, Json>
      return `[${Object.keys(key)
        .map((name) => `${name}=${valueText(key[name] as Json, numberText)}`)
        .join(',')}]`
    }
  }
}

/**
 * A value as messages before 1.18 show it: strings quoted, `[1,2]`, `{a=1;b="2"}`, every number as
 * a float.
 */
export function shownValue(value: Json | bigint): string {
  if (typeof value === 'bigint') return goFloat(Number(value))
  if (value === null || typeof value !== 'object') return valueText(value, goFloat)
  if (Array.isArray(value)) return `[${value.map(shownValue).join(',')}]`
  const members = Object.keys(value).map((name) => `${name}=${shownValue(value[name] as Json)}`)
  return `{${members.join(';')}}`
}

/** An integer as the object has it; field sets have floats. */
export const wholeNumber = (value: number): string =>
  Number.isInteger(value) ? String(value) : goFloat(value)

function valueText(value: Json, numberText: (value: number) => string): string {
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'number') return numberText(value)
  if (value === null || typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return `[${value.map((item) => valueText(item, numberText)).join(',')}]`
  return Object.keys(value)
    .sort(byCodePoint)
    .map((name) => `${name}=${valueText(value[name] as Json, numberText)}`)
    .join('')
}
