/**
 * Reads and writes YAML as Kubernetes does: only the first document, with YAML 1.1 booleans, string
 * keys and merge keys. The last of equal keys wins. Aliases may not multiply a document, and JSON's
 * nesting limit applies. This module is loaded with the first YAML; other modules import yaml.ts.
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
/** Up to the low count nearly all values may come from aliases; from the high count on, a tenth. */
const aliasedCountLow = 400_000
const aliasedCountHigh = 4_000_000

function aliasedShareMax(count: number): number {
  if (count <= aliasedCountLow) return 0.99
  if (count >= aliasedCountHigh) return 0.1
  return 0.99 - (0.89 * (count - aliasedCountLow)) / (aliasedCountHigh - aliasedCountLow)
}

/** Makes the value of one document. An alias refers only to anchors that precede it. */
class Reader {
  readonly #text: string
  readonly #lastLine: string
  readonly #anchors = new Map<string, unknown>()
  /** The target of each alias at its own position, because a later anchor may reuse the name. */
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
   * Whether the text ends within the last line of a block scalar. Trailing blanks count if they are
   * indented deeper than the block.
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
        // Several maps are allowed only as a literal sequence, not by an alias to one.
        mergeInto(out, isAlias(value) && Array.isArray(merged) ? [merged] : merged)
      } else setKey(out, keyText(this.read(key, depth + 1)), this.read(value, depth + 1))
    }
    return out
  }
}

/**
 * Merged keys override the keys before `<<`; keys after it override them. Of several merged maps
 * the first wins.
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

/** A block scalar ends with a line break only if the text does. */
const cutShort = (node: Scalar): Json => String(scalarValue(node)).replace(/\n$/, '')

/** Characters that YAML forbids, even in comments. */
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

/** `!!binary` is base64, in which line breaks are ignored; its value is the decoded text. */
function binaryText(text: string): string {
  if (base64Fault(text) !== undefined) {
    throw new YamlError('yaml: !!binary value contains invalid base64 data')
  }
  return Buffer.from(text, 'base64').toString('utf8')
}

/** The plain text must match such a tag; the only exception is an integer tagged as float. */
const resolvedTags = new Set(['int', 'float', 'bool', 'null', 'timestamp'])

function requireTag(found: string, tag: string, text: string): void {
  if (found === tag || (tag === 'float' && found === 'int')) return
  throw new YamlError(`yaml: cannot decode !!${found} \`${text}\` as a !!${tag}`)
}

/**
 * Lexemes read per YAML body: enough for the largest hand-written manifests, about a second of
 * work. JSON bodies, which all client libraries send, have no such limit.
 */
const lexemesMax = 250_000

function* tokensOf(text: string, lines: LineCounter) {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let count = 0
  // Directives are checked only before the first document.
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
  // Tags are resolved here and not by the parser, which would convert timestamps and ordered maps.
  const options = { schema: 'failsafe', resolveKnownTags: false, uniqueKeys: false } as const
  const composer = new Composer({ ...options, logLevel: 'silent' })
  for (const document of composer.compose(tokensOf(text, lines))) {
    return document as Document.Parsed
  }
  return undefined
}

/** The error for bytes that are not valid text. */
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
    // The parser recurses once per nesting level.
    if (error instanceof RangeError) throw new YamlError('yaml: exceeded max depth')
    throw error
  }
}

/** Duplicate keys, each with its line. `text` must have been read before without an error. */
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

/** Writes YAML in Kubernetes' format. */
export const writeDocument = (value: unknown): Buffer => Buffer.from(writeYaml(asJson(value)))

/** Writes what JSON.stringify makes of the value. */
const asJson = (value: unknown): Json => parseJson(JSON.stringify(value), storedDepthMax)

/** Writes a map with a long list under `key` piece by piece: the start, each item, the end. */
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
