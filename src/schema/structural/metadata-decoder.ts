/**
 * What the original's JSON decoder says of metadata that is none. It goes on after the first fault and puts the name of
 * each field that follows before its words, so the text is walked as that decoder walks it, one byte after the other.
 *
 *   {"name":1,"uid":"x"}  →  v1.ObjectMeta.UID: Name: ReadString: expects " or n, but found 1, error found in #9 byte of …
 *
 * It keeps no value, and only texts that are JSON are given to it.
 */
import type { Json } from '#api/object-meta.ts'
import { sortedCopy } from './sorted-copy.ts'
import { timeProblem } from './time-problem.ts'

/** Reads one value from where the text stands. */
type Read = (text: Text) => void

const code = (character: string): number => character.charCodeAt(0)
const [quote, comma, colon, nothing] = [code('"'), code(','), code(':'), code('n')]
const [openObject, closeObject, openList, closeList] = [...'{}[]'].map(code)

/** How much of the text around a fault is shown, to either side. */
const shownNear = 10
const shownFar = 50

/** Undefined where the original reads it as metadata. */
export function metaProblem(metadata: Json): string | undefined {
  const text = new Text(Buffer.from(JSON.stringify(sortedCopy(metadata))))
  objectMeta(text)
  return text.problem
}

class Text {
  readonly #bytes: Buffer
  #head = 0
  problem: string | undefined

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** The next byte; zero at the end. */
  next(): number {
    return this.#head < this.#bytes.length ? this.#bytes[this.#head++] : 0
  }

  /** Takes a byte back; after a fault it stays gone. */
  back(): void {
    if (this.problem === undefined) this.#head--
  }

  /** Only the first fault counts. */
  fail(operation: string, why: string): void {
    if (this.problem !== undefined) return
    const near = Math.max(0, this.#head - shownNear)
    const shown = this.#slice(near, this.#head + shownNear)
    const around = this.#slice(Math.max(0, this.#head - shownFar), this.#head + shownFar)
    this.problem = `${operation}: ${why}, error found in #${this.#head - near} byte of ...|${shown}|..., bigger context ...|${around}|...`
  }

  expected(operation: string, what: string, found: number): void {
    this.fail(operation, `${what}, but found ${String.fromCharCode(found)}`)
  }

  /** What is around a fault gets its name before it, even where the fault was before. */
  within(name: string): void {
    if (this.problem !== undefined) this.problem = name + this.problem
  }

  #slice(from: number, to: number): string {
    return this.#bytes.toString('utf8', from, Math.min(to, this.#bytes.length))
  }

  skip(length: number): void {
    this.#head = Math.min(this.#bytes.length, this.#head + length)
  }

  /** Past the rest of a string whose quote is read; its text. */
  string(): string {
    const from = this.#head
    while (this.#head < this.#bytes.length && this.#bytes[this.#head] !== quote) {
      this.#head += this.#bytes[this.#head] === code('\\') ? 2 : 1
    }
    this.#head++
    return this.#slice(from, this.#head - 1)
  }

  /** Past one whole value; its text. */
  value(): string {
    const from = this.#head
    let depth = 0
    do {
      const c = this.next()
      if (c === quote) this.string()
      else if (c === openObject || c === openList) depth++
      else if (c === closeObject || c === closeList) depth--
      else if (startsWord.has(c)) this.#word()
    } while (depth > 0 && this.#head < this.#bytes.length)
    return this.#slice(from, this.#head)
  }

  #word(): void {
    while (this.#head < this.#bytes.length && !this.#ends(this.#bytes[this.#head])) this.#head++
  }

  #ends(c: number): boolean {
    return c === comma || c === colon || c === closeObject || c === closeList || c === quote
  }

  digits(): void {
    while (isDigit(this.#bytes[this.#head])) this.#head++
    if (this.#bytes[this.#head] === code('.')) {
      this.fail('assertInteger', 'can not decode float as int')
    }
  }
}

const isDigit = (c: number | undefined): boolean =>
  c !== undefined && c >= code('0') && c <= code('9')

const startsWord = new Set([...'-0123456789tfn'].map(code))
const restOfNull = 3

const string: Read = (text) => {
  const c = text.next()
  if (c === quote) text.string()
  else if (c === nothing) text.skip(restOfNull)
  else text.expected('ReadString', 'expects " or n', c)
}

/** What Go keeps behind a pointer: the first byte is looked at twice. */
const optional =
  (read: Read): Read =>
  (text) => {
    if (text.next() === nothing) return text.skip(restOfNull)
    text.back()
    read(text)
  }

const integer: Read = (text) => {
  let c = text.next()
  if (c === code('-')) c = text.next()
  // The byte it shows is minus one, which is no text.
  if (isDigit(c)) text.digits()
  else text.fail('readUint64', 'unexpected character: \ufffd')
}

const bool: Read = (text) => {
  const c = text.next()
  if (c === code('t')) text.skip(restOfNull)
  else if (c === code('f')) text.skip('alse'.length)
  else text.expected('ReadBool', 'expect t or f', c)
}

const time: Read = (text) => {
  text.next()
  text.back()
  const value = text.value()
  if (text.problem !== undefined) return
  const problem = timeProblem(JSON.parse(value) as Json)
  if (problem !== undefined) text.fail('unmarshalerDecoder', problem)
}

const anything: Read = (text) => void text.value()

const peeked: Read = (text) => {
  text.next()
  text.back()
  text.value()
}

const listOf =
  (type: string, item: Read): Read =>
  (text) => {
    readList(text, item)
    text.within(`[]${type}: `)
  }

const readList = (text: Text, item: Read): ReturnType<Read> => {
  let c = text.next()
  if (c === nothing) return text.skip(restOfNull)
  if (c !== openList) return text.expected('decode slice', 'expect [ or n', c)
  c = text.next()
  if (c === closeList) return
  text.back()
  do {
    item(text)
    c = text.next()
  } while (c === comma)
  if (c !== closeList) text.expected('decode slice', 'expect ]', c)
}

const texts: Read = (text) => {
  let c = text.next()
  if (c === nothing) return text.skip(restOfNull)
  if (c !== openObject) return text.expected('ReadMapCB', 'expect { or n', c)
  c = text.next()
  if (c === closeObject) return
  text.back()
  do {
    string(text)
    c = text.next()
    if (c !== colon) return text.expected('ReadMapCB', 'expect : after object field', c)
    string(text)
    c = text.next()
  } while (c === comma)
  if (c !== closeObject) text.expected('ReadMapCB', 'expect }', c)
}

/** `fields`: by its JSON name what a field is called and how it is read. */
const struct =
  (type: string, fields: ReadonlyMap<string, readonly [name: string, read: Read]>): Read =>
  (text) => {
    let c = text.next()
    if (c === nothing) return text.skip(restOfNull)
    if (c !== openObject) return text.expected('readObjectStart', 'expect { or n', c)
    c = text.next()
    if (c === closeObject) return
    text.back()
    do {
      const field = text.next() === quote ? fields.get(text.string()) : undefined
      text.next()
      if (field === undefined) anything(text)
      else {
        field[1](text)
        text.within(`${field[0]}: `)
      }
      c = text.next()
    } while (c === comma)
    text.within(`${type}.`)
  }

const row = (json: string, read: Read, name = json[0].toUpperCase() + json.slice(1)) =>
  [json, [name, read]] as const

const ownerReference = struct(
  'v1.OwnerReference',
  new Map([
    row('apiVersion', string, 'APIVersion'),
    row('kind', string),
    row('name', string),
    row('uid', string, 'UID'),
    row('controller', optional(bool)),
    row('blockOwnerDeletion', optional(bool)),
  ]),
)

const managedFieldsEntry = struct(
  'v1.ManagedFieldsEntry',
  new Map([
    row('manager', string),
    row('operation', string),
    row('apiVersion', string, 'APIVersion'),
    row('time', optional(time)),
    row('fieldsType', string),
    row('fieldsV1', optional(peeked), 'FieldsV1'),
    row('subresource', string),
  ]),
)

const objectMeta = struct(
  'v1.ObjectMeta',
  new Map([
    row('name', string),
    row('generateName', string),
    row('namespace', string),
    row('selfLink', string),
    row('uid', string, 'UID'),
    row('resourceVersion', string),
    row('generation', integer),
    row('creationTimestamp', time),
    row('deletionTimestamp', optional(time)),
    row('deletionGracePeriodSeconds', optional(integer)),
    row('labels', texts),
    row('annotations', texts),
    row('ownerReferences', listOf('v1.OwnerReference', ownerReference)),
    row('finalizers', listOf('string', string)),
    row('clusterName', string),
    row('managedFields', listOf('v1.ManagedFieldsEntry', managedFieldsEntry)),
  ]),
)
