/**
 * YAML bytes ⇄ values. The parser is loaded when the first text arrives that is not JSON, which is
 * YAML too.
 */
import { isUtf8 } from 'node:buffer'
import type { Json } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import type { ListText } from './yaml-document.ts'
import { hasUniqueKeys, isTooLarge, JsonError, parseJson } from './json.ts'

const parser = loadLater<typeof import('./yaml-document.ts')>(import.meta.url, './yaml-document')

/**
 * Matches texts that may contain a number beyond the range of a double, which YAML treats as text.
 */
const longExponent = /[0-9][eE]\+?[0-9]{3}|[0-9]{309}/

export function parseYaml(text: string): Json {
  // Clients that say YAML mostly send JSON, which is much quicker to read.
  if (/^\s*[{[]/.test(text)) {
    try {
      const value = parseJson(text)
      if (!longExponent.test(text) || !isTooLarge(value)) return value
    } catch (error) {
      if (!(error instanceof JsonError)) throw error
    }
  }
  return parser().readDocument(text)
}

export function decodeYaml(bytes: Buffer): Json {
  if (!isUtf8(bytes)) throw parser().octetError(bytes)
  return parseYaml(bytes.toString('utf8'))
}

/** Keys that a text has twice, as Go reports them: `line 6: key "a" already set in map`. */
export const repeatedKeys = (bytes: Buffer): string[] =>
  hasUniqueKeys(bytes) ? [] : parser().repeatedKeys(bytes.toString('utf8'))

/** YAML as Kubernetes writes it. */
export const encodeYaml = (value: unknown): Buffer => parser().writeDocument(value)

/** Writes a map with a long list under `key` (empty here), whose items are passed one by one. */
export const yamlListText = (map: object, key: string): ListText => parser().listText(map, key)
