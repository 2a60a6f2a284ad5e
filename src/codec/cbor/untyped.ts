/**
 * Decodes CBOR data items into JSON values without a type: custom objects, apply configurations and
 * fields of any type. Example: the byte string `61` and the text `a` are both the string "a".
 */
import type { Json } from '#api/object-meta.ts'
import { goQuote } from '#api/go-syntax.ts'
import { loadLater } from '#base/load-later.ts'
import { exactInteger } from '#codec/exact-integer.ts'
import { setKey } from '#schema/user-key.ts'
import { type Item, typeNameOf, unacceptable } from './item.ts'
import { instantText } from './tagged-time.ts'

const loadTimeFault = loadLater<typeof import('#codec/go-json/time-fault.ts')>(
  import.meta.url,
  '#codec/go-json/time-fault',
)

export interface TypeFault {
  readonly cborType: string
  readonly goType: string
  readonly more?: string
  /** The field of the outermost struct that contains the fault: `v1.Pod.spec`. */
  field?: string
}

/** Why an item cannot be decoded: a text, or a type that does not match. */
export type Fault = string | TypeFault

/**
 * The results of decoding. The first fault counts. A duplicate key replaces the faults of its map,
 * because Go's library stops there.
 */
export class Findings {
  fault: Fault | undefined
  /** The place of an unknown field in its map; the same order applies. */
  unknownAt: number | undefined
  /** If greater than 0, unknown fields are not recorded. */
  #quiet = 0

  report(fault: Fault): null {
    this.fault ??= fault
    return null
  }

  quietly(read: () => void): void {
    this.#quiet++
    read()
    this.#quiet--
  }

  get isQuiet(): boolean {
    return this.#quiet > 0
  }
}

export function faultText(fault: Fault): string {
  if (typeof fault === 'string') return fault
  const { cborType, goType, more, field } = fault
  const where = field === undefined ? 'Go value' : `Go struct field ${field}`
  const why = more === undefined ? '' : ` (${more})`
  return `cbor: cannot unmarshal ${cborType} into ${where} of type ${goType}${why}`
}

const selfDescribedTag = 55799n

/** Byte strings inside these tags are bytes, which are text in JSON. */
const laterEncodings: ReadonlyMap<bigint, BufferEncoding> = new Map([
  [21n, 'base64url'],
  [22n, 'base64'],
  [23n, 'hex'],
])

export type Encoding = BufferEncoding | undefined

/** The encoding that a tag gives to the byte strings inside it. */
export const encodingInside = (tag: bigint, around: Encoding): Encoding =>
  laterEncodings.get(tag) ?? around

/** Removes tags that only mark the item as CBOR. */
export function withoutPrefix(item: Item): Item {
  let inner = item
  while (inner.is === 'tag' && inner.number === selfDescribedTag) inner = inner.content
  return inner
}

/** The error if a time tag's content has the wrong type. */
export function tagFault(item: Item): string | undefined {
  for (let outer = item; outer.is === 'tag'; outer = outer.content) {
    const { number, content } = outer
    const found = typeNameOf(content)
    if (number === 0n && content.is !== 'text')
      return `cbor: tag number 0 must be followed by text string, got ${found}`
    const isNumber = ['positive', 'negative', 'float'].includes(content.is)
    if (number === 1n && !isNumber) {
      return `cbor: tag number 1 must be followed by integer or floating-point number, got ${found}`
    }
  }
  return undefined
}

const int64Max = 2n ** 63n - 1n
const jsonSimples: ReadonlyMap<number, Json> = new Map<number, Json>([
  [20, false],
  [21, true],
  [22, null],
])

export const signedOf = ({ is, argument }: Item & { argument: bigint }): bigint =>
  is === 'positive' ? argument : -1n - argument

export function readSimple(value: number, findings: Findings): Json {
  const found = jsonSimples.get(value)
  if (found !== undefined) return found
  return findings.report(unacceptable('primitives', `simple value ${value} is not recognized`))
}

export const isUtf8 = (bytes: Buffer): boolean => Buffer.from(bytes.toString('utf8')).equals(bytes)

/** Decodes a string of either type; undefined if it is not valid UTF-8. */
export function readText(
  item: Item & { is: 'bytes' | 'text' },
  encoding: Encoding,
  findings: Findings,
): string | undefined {
  const { is, bytes } = item
  if (is === 'bytes') return bytes.toString(encoding ?? 'utf8')
  const text = bytes.toString('utf8')
  if (!text.includes('\ufffd') || isUtf8(bytes)) return text
  findings.report('cbor: invalid UTF-8 string')
  return undefined
}

export function readUntyped(tagged: Item, findings: Findings, encoding?: Encoding): Json {
  return readTagged(withoutPrefix(tagged), findings, encoding)
}

function readTagged(item: Item, findings: Findings, encoding: Encoding): Json {
  const wrong = tagFault(item)
  if (wrong !== undefined) return findings.report(wrong)
  switch (item.is) {
    case 'positive':
    case 'negative': {
      if (item.argument <= int64Max) return exactInteger(signedOf(item)) as Json
      const more = `${signedOf(item)} overflows Go's int64`
      return findings.report({ cborType: typeNameOf(item), goType: 'int64', more })
    }
    case 'bytes':
    case 'text':
      return readText(item, encoding, findings) ?? null
    case 'array':
      return item.items.map((one) => readUntyped(one, findings, encoding))
    case 'map':
      return readMap(item, findings, encoding, (one) => readUntyped(one, findings, encoding))
    case 'simple':
      return readSimple(item.value, findings)
    case 'float':
      return item.value
    case 'tag': {
      const { number, content } = item
      if (number === 0n || number === 1n) return readTime(content, findings)
      return readTagged(content, findings, encodingInside(number, encoding))
    }
  }
}

/** A map with keys of the user's choice; null is the empty key, as in Go. */
export function readMap(
  { pairs }: Item & { is: 'map' },
  findings: Findings,
  encoding: Encoding,
  readItem: (item: Item) => Json,
): Json {
  const map: { [key: string]: Json } = {}
  const before = findings.fault
  const keys = new Set<string>()
  for (const [index, [keyItem, item]] of pairs.entries()) {
    const key = readKey(keyItem, findings, encoding)
    if (key === undefined) continue
    const faulty = findings.fault
    const value = readItem(item)
    if (findings.fault !== faulty) continue
    if (keys.has(key)) {
      findings.fault = before ?? duplicateKey(goQuote(key), index)
      return map
    }
    keys.add(key)
    setKey(map, key, value)
  }
  return map
}

export const duplicateKey = (key: string, index: number): string =>
  `cbor: found duplicate map key ${key} at map element index ${index}`

function readKey(tagged: Item, findings: Findings, around: Encoding): string | undefined {
  let item = withoutPrefix(tagged)
  const wrong = tagFault(item)
  if (wrong !== undefined) findings.report(wrong)
  let encoding = around
  for (; item.is === 'tag'; item = item.content) encoding = encodingInside(item.number, encoding)
  if (wrong !== undefined) return undefined
  if (item.is === 'bytes' || item.is === 'text') return readText(item, encoding, findings)
  if (item.is === 'simple' && item.value === 22) return ''
  findings.report({ cborType: typeNameOf(item), goType: 'string' })
  return undefined
}

function readTime(content: Item, findings: Findings): Json {
  if (content.is === 'text') {
    const text = content.bytes.toString('utf8')
    const fault = loadTimeFault().timeFault(text, 'time')
    if (fault !== undefined)
      return findings.report(`cbor: cannot set ${text} for time.Time: ${fault}`)
    return text.replace(/(?:[.,](\d*?))0*(?=Z|[-+]\d\d:)/, (_, digits) =>
      digits ? `.${digits}` : '',
    )
  }
  const seconds = content.is === 'float' ? content.value : Number(signedOf(content as never))
  const text = instantText(seconds)
  if (text !== undefined) return text
  return findings.report(
    'cbor: decoded time cannot be represented in RFC3339 format with sub-second precision: Time.MarshalText: year outside of range [0,9999]',
  )
}
