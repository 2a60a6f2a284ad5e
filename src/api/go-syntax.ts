/**
 * Formats values as Go's `%#v`, `%q` and `%v` do, because Kubernetes' messages contain them. These
 * functions validate nothing and do not depend on a kind.
 *
 *   goStruct('rbac.RoleRef', [['Kind', goQuote('Role')], ['Name', goQuote('')]])
 *     → rbac.RoleRef{Kind:"Role", Name:""}
 */

/**
 * A value for messages: `text` in Go syntax (releases before 1.34), `json` as encoding/json writes
 * it. A template string uses `text`.
 */
export class GoText {
  readonly text: string
  readonly json: string
  constructor(text: string, json: string) {
    this.text = text
    this.json = json
  }
  toString(): string {
    return this.text
  }
}

/**
 * Wraps text that is already in Go syntax. `json` is required unless the text is a quoted string or
 * a number.
 */
export const asGo = (text: string | GoText, json?: string): GoText => {
  if (typeof text === 'string') return new GoText(text, json ?? jsonOfScalar(text))
  return json === undefined ? text : new GoText(text.text, json)
}

/** The JSON of `"text"`, `5` or `true` in Go syntax. Other text becomes a JSON string. */
function jsonOfScalar(text: string): string {
  if (!text.startsWith('"'))
    return /^(?:-?[\d.]+(?:e[-+]\d+)?|true|false)$/.test(text) ? text : goJson(text)
  const escaped = text
    .replace(/\\x([0-9a-f]{2})/g, '\\u00$1')
    .replace(/\\a/g, '\\u0007')
    .replace(/\\v/g, '\\u000b')
    .replace(/\\U([0-9a-f]{8})/g, (_, hex) =>
      JSON.stringify(String.fromCodePoint(Number.parseInt(hex, 16))).slice(1, -1),
    )
  return goJson(JSON.parse(escaped))
}

/** Serialises JSON as Go's encoding/json does: sorted keys, with `<`, `>` and `&` escaped. */
export function goJson(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'string')
    return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, hexEscape)
  if (value instanceof GoText) return value.json
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`
  if (typeof value !== 'object') return String(value)
  const holder = value as Record<string, unknown>
  const members = namesInOrder(holder).map((name) => `${goJson(name)}:${goJson(holder[name])}`)
  return `{${members.join(',')}}`
}

const hexEscape = (ch: string): string => `\\u${ch.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * The characters for which unicode.IsPrint is true: letters, marks, numbers, punctuation, symbols
 * and the ASCII space.
 */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u
const plainAscii = /^[ !#-[\]-~]*$/
const shortEscapes = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\t', '\\t'],
  ['\r', '\\r'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\v', '\\v'],
])

/** Quotes a string like `%q`. */
export function goQuote(text: string): string {
  if (plainAscii.test(text)) return `"${text}"`
  let out = '"'
  for (const ch of text) {
    const code = ch.codePointAt(0) as number
    const short = shortEscapes.get(ch)
    if (short !== undefined) out += short
    else if (code >= 0xd800 && code <= 0xdfff) out += '\ufffd'
    else if (printable.test(ch)) out += ch
    else if (code < 0x20 || code === 0x7f) out += `\\x${code.toString(16).padStart(2, '0')}`
    else if (code < 0x10000) out += `\\u${code.toString(16).padStart(4, '0')}`
    else out += `\\U${code.toString(16).padStart(8, '0')}`
  }
  return `${out}"`
}

/** Whether `%q` prints a character without an escape. */
export const isPrintable = (ch: string): boolean => printable.test(ch)

/** Formats a float as `%v`: below 1e-4 and from 1e6 on with an exponent of at least two digits. */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return '0'
  const [digits, exponentText] = value.toExponential().split('e') as [string, string]
  const exponent = Number(exponentText)
  if (exponent >= -4 && exponent < 6) {
    const mantissa = digits.replace('-', '').replace('.', '')
    const sign = value < 0 ? '-' : ''
    if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${mantissa}`
    if (mantissa.length <= exponent + 1) return sign + mantissa.padEnd(exponent + 1, '0')
    return `${sign}${mantissa.slice(0, exponent + 1)}.${mantissa.slice(exponent + 1)}`
  }
  const size = String(Math.abs(exponent)).padStart(2, '0')
  return `${digits}e${exponent < 0 ? '-' : '+'}${size}`
}

/** A field of a structure: Go syntax, or a value with its JSON. */
export type GoPart = string | GoText

/** `type{Name:value, …}`. The JSON form keeps the Go names, as Kubernetes' internal types do. */
export const goStruct = (type: string, fields: readonly (readonly [string, GoPart])[]): GoText =>
  new GoText(
    `${type}{${fields.map(([name, value]) => `${name}:${value}`).join(', ')}}`,
    `{${fields.map(([name, value]) => `"${name}":${asGo(value).json}`).join(',')}}`,
  )

/** `[]type{…}`, or `[]type(nil)` if absent. */
export const goList = (type: string, items: readonly GoPart[] | null | undefined): GoText =>
  items === null || items === undefined
    ? new GoText(`[]${type}(nil)`, 'null')
    : new GoText(
        `[]${type}{${items.join(', ')}}`,
        `[${items.map((item) => asGo(item).json).join(',')}]`,
      )

export const goStrings = (items: readonly string[] | null | undefined, type = 'string'): GoText =>
  goList(type, items?.map(goQuote))

/** `type{"key":value, …}` with sorted keys, or `type(nil)` when absent. */
export function goMap<T>(
  type: string,
  map: Readonly<Record<string, T>> | null | undefined,
  show: (value: T, key: string) => GoPart,
): GoText {
  if (map === null || map === undefined) return new GoText(`${type}(nil)`, 'null')
  const shown = namesInOrder(map).map((key) => [key, show(map[key] as T, key)] as const)
  return new GoText(
    `${type}{${shown.map(([key, value]) => `${goQuote(key)}:${value}`).join(', ')}}`,
    `{${shown.map(([key, value]) => `${goJson(key)}:${asGo(value).json}`).join(',')}}`,
  )
}

export const goStringMap = (map: Readonly<Record<string, string>> | null | undefined): GoText =>
  goMap('map[string]string', map, goQuote)

/** A pointer in a structure: Go syntax shows an address, JSON shows the value. */
export const goPointer = (type: string, value: unknown): GoText =>
  value === null || value === undefined
    ? new GoText(`(*${type})(nil)`, 'null')
    : new GoText(`(*${type})(0xc000000000)`, value instanceof GoText ? value.json : goJson(value))

/** Formats an untyped value, as in map[string]interface {} and []interface {}. */
export function goUntyped(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : goFloat(value)
  if (typeof value !== 'object') return String(value)
  if (value instanceof GoText) return value.text
  if (Array.isArray(value)) return goList('interface {}', value.map(goUntyped)).text
  return goMap('map[string]interface {}', value as Record<string, unknown>, goUntyped).text
}

/** Keys in Go's order. Most maps are sorted already, so this avoids a sort. */
export function namesInOrder(map: object): string[] {
  const names = Object.keys(map)
  for (let i = 1; i < names.length; i++) {
    if (byCodePoint(names[i - 1] as string, names[i] as string) > 0) return names.sort(byCodePoint)
  }
  return names
}

/** Compares strings in Go's order: by UTF-8 bytes, which is the order of code points. */
export function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    const xHigh = x >= 0xd800 && x <= 0xdfff
    const yHigh = y >= 0xd800 && y <= 0xdfff
    if (xHigh !== yHigh) return xHigh ? 1 : -1
    return x - y
  }
  return a.length - b.length
}

/** Formats a text with fmt.Sprintf without arguments: a percent sign causes Go's error text. */
export function goFormat(text: string): string {
  if (!text.includes('%')) return text
  return text.replace(/%[-+# 0]*(?:\d+)?(?:\.\d*)?(.)?/gsu, (_, verb: string | undefined) => {
    if (verb === undefined) return '%!(NOVERB)'
    return verb === '%' ? '%' : `%!${verb}(MISSING)`
  })
}
