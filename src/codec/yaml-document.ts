/**
 * YAML text ⇄ values, read as Kubernetes reads it: the first document only, YAML 1.1's booleans,
 * keys made strings, merge keys, the last of equal keys. Aliases may not multiply a document, and
 * nesting has JSON's limit. Loaded when the first YAML arrives: yaml.ts is what others import.
 */
import {
  type Alias,
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  Parser,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml'
import { goQuote } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { setKey } from '#schema/user-key.ts'
import { base64Fault } from './go-json/base64-fault.ts'
import { utf8Fault } from './utf8-fault.ts'
import { nestingDepthMax, parseJson, storedDepthMax } from './json.ts'
import { Directives } from './yaml-directives.ts'
import { YamlError } from './yaml-error.ts'
import { describeFault } from './yaml-fault.ts'
import { looseLexer } from './yaml-lexer.ts'
import { isTime, plainTag, resolvePlain } from './yaml-scalar.ts'
import { LongList, writeYaml } from './yaml-writer.ts'

const tagPrefix = 'tag:yaml.org,2002:'
/** Up to this many values, nearly all may come from aliases; from ten times as many on, a tenth. */
const aliasedCountLow = 400_000
const aliasedCountHigh = 4_000_000

function aliasedShareMax(count: number): number {
  if (count <= aliasedCountLow) return 0.99
  if (count >= aliasedCountHigh) return 0.1
  return 0.99 - (0.89 * (count - aliasedCountLow)) / (aliasedCountHigh - aliasedCountLow)
}

/** Makes the value of one document. Anchors are those met so far: an alias never looks ahead. */
class Reader {
  readonly #text: string
  readonly #lastLine: string
  readonly #anchors = new Map<string, unknown>()
  /**
   * The value of each alias, as it was where the alias is written: an anchor's name may be defined
   * again.
   */
  readonly #targets = new Map<unknown, unknown>()
  readonly #open = new Set<unknown>()
  #count = 0
  #aliasedCount = 0
  #aliasDepth = 0

  constructor(text: string) {
    this.#text = text
    this.#lastLine = text.slice(text.lastIndexOf('\n') + 1)
  }

  read(node: unknown, depth: number): Json {
    this.#count++
    if (this.#aliasDepth > 0) this.#aliasedCount++
    const share = this.#aliasedCount / this.#count
    if (this.#aliasedCount > 100 && this.#count > 1000 && share > aliasedShareMax(this.#count)) {
      throw new YamlError('yaml: document contains excessive aliasing')
    }
    if (depth > nestingDepthMax) throw new YamlError('yaml: exceeded max depth')
    if (node === null || node === undefined) return null
    if (isAlias(node)) return this.#alias(node, depth)
    const anchor = (node as { anchor?: string }).anchor
    if (anchor !== undefined && this.#aliasDepth === 0) this.#anchors.set(anchor, node)
    if (isScalar(node)) return this.#isCutShort(node) ? cutShort(node) : scalarValue(node)
    this.#open.add(node)
    let value: Json = null
    if (isSeq(node)) value = node.items.map((item) => this.read(item, depth + 1))
    else if (isMap(node)) value = this.#map(node, depth)
    this.#open.delete(node)
    return value
  }

  /**
   * Whether the text ends within the last line of a block: blanks alone count from its indentation
   * on.
   */
  #isCutShort({ type, range, value }: Scalar): boolean {
    if (!type?.startsWith('BLOCK_') || range?.[1] !== this.#text.length) return false
    return /\S/.test(this.#lastLine) || /(^|\n)[ \t]+\n$/.test(String(value))
  }

  #alias(alias: Alias, depth: number): Json {
    const name = alias.source
    const target = this.#targets.get(alias) ?? this.#anchors.get(name)
    if (target === undefined) throw new YamlError(`yaml: unknown anchor '${name}' referenced`)
    if (this.#open.has(target)) throw new YamlError(`yaml: anchor '${name}' value contains itself`)
    this.#targets.set(alias, target)
    this.#aliasDepth++
    const value = this.read(target, depth)
    this.#aliasDepth--
    return value
  }

  #map(map: YAMLMap, depth: number): Json {
    const out: { [key: string]: Json } = {}
    for (const { key, value } of map.items as Pair<unknown, unknown>[]) {
      if (isScalar(key) && isMerge(key)) {
        const merged = this.read(value, depth + 1)
        // Several maps are written where they are merged.
        mergeInto(out, isAlias(value) && Array.isArray(merged) ? [merged] : merged)
      } else setKey(out, keyText(this.read(key, depth + 1)), this.read(value, depth + 1))
    }
    return out
  }
}

/**
 * What `<<` brings goes over what the map has so far, and under what follows; the first of several
 * maps over the later ones.
 */
function mergeInto(out: { [key: string]: Json }, merged: Json): void {
  const maps = Array.isArray(merged) ? merged.toReversed() : [merged]
  for (const map of maps) {
    if (typeof map !== 'object' || map === null || Array.isArray(map)) {
      throw new YamlError('yaml: map merge requires map or sequence of maps as the value')
    }
    for (const key of Object.keys(map)) setKey(out, key, map[key])
  }
}

function keyText(key: Json): string {
  if (key === null) throw new YamlError('Unsupported map key of type: %!s(<nil>), key: <nil>')
  if (typeof key === 'object') throw new YamlError('yaml: invalid map key')
  return String(key)
}

/** A block ends with a line break only where the text has one. */
const cutShort = (node: Scalar): Json => String(scalarValue(node)).replace(/\n$/, '')

/** Characters that no YAML text has, not even in comments. */
const control = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

const tagOf = ({ tag }: Scalar): string | undefined =>
  tag?.startsWith(tagPrefix) ? tag.slice(tagPrefix.length) : tag

function isMerge(key: Scalar): boolean {
  const tag = tagOf(key) ?? '!'
  return key.value === '<<' && (tag === 'merge' || (tag === '!' && key.type === 'PLAIN'))
}

function scalarValue(node: Scalar): Json {
  const text = String(node.value ?? '')
  const tag = tagOf(node)
  if (tag === 'binary') return binaryText(text)
  if (tag === 'timestamp' && isTime(text)) return text
  const isResolved = tag === undefined ? node.type === 'PLAIN' : resolvedTags.has(tag)
  if (!isResolved) return text
  const value = resolvePlain(text)
  if (tag !== undefined) requireTag(plainTag(value, text), tag, text)
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const shown = value > 0 ? '+Inf' : value < 0 ? '-Inf' : 'NaN'
    throw new YamlError(`json: unsupported value: ${shown}`)
  }
  return value
}

/** Bytes in base64, whose line breaks do not matter, are the text that they are. */
function binaryText(text: string): string {
  if (base64Fault(text) !== undefined) {
    throw new YamlError('yaml: !!binary value contains invalid base64 data')
  }
  return Buffer.from(text, 'base64').toString('utf8')
}

/** Tags that a plain text must have of itself, but that integers are fractions too. */
const resolvedTags = new Set(['int', 'float', 'bool', 'null', 'timestamp'])

function requireTag(found: string, tag: string, text: string): void {
  if (found === tag || (tag === 'float' && found === 'int')) return
  throw new YamlError(`yaml: cannot decode !!${found} \`${text}\` as a !!${tag}`)
}

/**
 * Signs of YAML read per body: room for the largest definitions people write by hand, and about a
 * second of work. JSON bodies, which all client libraries send, know no such limit.
 */
const lexemesMax = 250_000

function* tokensOf(text: string, lines: LineCounter) {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let count = 0
  // Only the first document is read, and what precedes it.
  let directives: Directives | undefined = new Directives()
  for (const lexeme of looseLexer().lex(text)) {
    if (++count > lexemesMax) throw new YamlError('yaml: document is too large, send it as JSON')
    for (const token of parser.next(lexeme)) {
      if (token.type === 'document') directives = undefined
      if (token.type === 'directive')
        directives?.check(token.source, lines.linePos(token.offset).line)
      yield token
    }
  }
  yield* parser.end()
}

function firstDocument(text: string, lines: LineCounter): Document.Parsed | undefined {
  // What tags make of a value is not the parser's to say: to others a time is text, and an ordered
  // map is a list.
  const options = { schema: 'failsafe', resolveKnownTags: false, uniqueKeys: false } as const
  const composer = new Composer({ ...options, logLevel: 'silent' })
  for (const document of composer.compose(tokensOf(text, lines))) {
    return document as Document.Parsed
  }
  return undefined
}

/** The error for bytes that are no text at all. */
export const octetError = (bytes: Buffer): YamlError => new YamlError(`yaml: ${utf8Fault(bytes)}`)

export function readDocument(text: string): Json {
  try {
    if (control.test(text)) throw new YamlError('yaml: control characters are not allowed')
    const lines = new LineCounter()
    const document = firstDocument(text, lines)
    if (document === undefined) return null
    if (document.errors.length > 0) throw new YamlError(describeFault(document.errors, text, lines))
    return new Reader(text).read(document.contents, 0)
  } catch (error) {
    // The parser below us goes down one frame per level of nesting.
    if (error instanceof RangeError) throw new YamlError('yaml: exceeded max depth')
    throw error
  }
}

/** Keys that are in a map already, each with its line; `text` has been read before. */
export function repeatedKeys(text: string): string[] {
  const lines = new LineCounter()
  const duplicates: string[] = []
  visit(firstDocument(text, lines) ?? null, {
    Map(_, map) {
      const seen = new Set<Json>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        const value = scalarValue(key as Scalar)
        const shown = typeof value === 'string' ? goQuote(value) : String(value)
        const { line } = lines.linePos(key.range?.[0] ?? 0)
        if (seen.has(value)) duplicates.push(`line ${line}: key ${shown} already set in map`)
        seen.add(value)
      }
    },
  })
  return duplicates
}

/** YAML as Kubernetes writes it. */
export const writeDocument = (value: unknown): Buffer => Buffer.from(writeYaml(asJson(value)))

/** What JSON makes of a value is what is written of it. */
const asJson = (value: unknown): Json => parseJson(JSON.stringify(value), storedDepthMax)

/**
 * The text of a map whose list under `key` is long, piece by piece: how it begins, each of its
 * items, how it ends.
 */
export interface ListText {
  start(): string
  item(value: unknown): string
  end(): string
}

export function listText(map: object, key: string): ListText {
  const list = new LongList(asJson(map) as { [key: string]: Json }, key)
  return {
    start: () => list.start(),
    item: (value) => list.item(asJson(value)),
    end: () => list.end(),
  }
}
