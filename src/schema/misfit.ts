/**
 * The error for a value of the wrong type, with its path. Thrown during decoding, and converted to
 * a response by conform.
 */
import type { Json } from '#api/object-meta.ts'

export type JsonObject = { [key: string]: Json }

export const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The maximum length of a wrong value in a message. */
const shownLengthMax = 60

function describe(value: Json | bigint): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  const shown = text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text
  return `${typeof value === 'bigint' ? 'number' : typeof value} ${shown}`
}

export class Misfit extends Error {
  #path = ''
  readonly #why: string

  /** `expected` follows the word "expected": `a list`, `an int32`. */
  constructor(expected: string, found: Json | bigint) {
    super()
    this.#why = `expected ${expected}, found ${describe(found)}`
  }

  /** Each function on the way up prepends its own segment to the path. */
  at(segment: string): void {
    const joint = this.#path === '' || this.#path.startsWith('[') ? '' : '.'
    this.#path = segment + joint + this.#path
  }

  override get message(): string {
    return this.#path === '' ? this.#why : `${this.#path}: ${this.#why}`
  }
}
