/** Validates that PEM contains only X.509 certificates, with Go's error messages. */
import { Cursor, fail, Malformed, tags } from './der-cursor.ts'
import { readExtension } from './issued-extensions.ts'
import { decodePem } from './pem.ts'
import { readPublicKey } from './public-key.ts'

const versionLast = 2

/** The error in a chain of PEM certificates. Empty input is valid. */
export function certificateProblem(bytes: Buffer): string | undefined {
  if (bytes.length === 0) return undefined
  let count = 0
  for (let rest = bytes; ; count++) {
    const block = decodePem(rest)
    if (block === undefined) break
    if (block.type !== 'CERTIFICATE') {
      return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(block.type)}`
    }
    if (block.hasHeaders) return 'no PEM block headers are permitted'
    if (block.bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates'
    const problem = chainProblem(block.bytes)
    if (problem !== undefined) return problem
    rest = block.rest
  }
  return count === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}

/** Whether the bytes are exactly one certificate. */
export function isCertificate(der: Buffer): boolean {
  try {
    const outer = new Cursor(der)
    readCertificate(new Cursor(outer.take(tags.sequence, 'malformed certificate').contents))
    return outer.isAtEnd
  } catch (error) {
    if (error instanceof Malformed) return false
    throw error
  }
}

/** A PEM block may contain several certificates. */
function chainProblem(der: Buffer): string | undefined {
  try {
    const chain = new Cursor(der)
    while (!chain.isAtEnd) {
      readCertificate(new Cursor(chain.take(tags.sequence, 'malformed certificate').contents))
    }
    return undefined
  } catch (error) {
    if (error instanceof Malformed) return error.message
    throw error
  }
}

function readCertificate(outer: Cursor): void {
  const body = outer.into(tags.sequence, 'malformed tbs certificate')
  const version = readVersion(body)
  body.takeInteger('malformed serial number')
  const inner = body.take(tags.sequence, 'malformed signature algorithm identifier').contents
  const signed = outer.take(tags.sequence, 'malformed algorithm identifier').contents
  if (!inner.equals(signed)) fail("inner and outer signature algorithm identifiers don't match")
  readAlgorithm(new Cursor(inner))
  readName(body.into(tags.sequence, 'malformed issuer'))
  const validity = body.into(tags.sequence, 'malformed validity')
  readTime(validity)
  readTime(validity)
  readName(body.into(tags.sequence, 'malformed issuer'))
  readKey(body)
  if (version === versionLast) readExtensions(body)
  outer.takeBits('malformed signature')
}

function readVersion(body: Cursor): number {
  if (body.tag !== tags.version) return 0
  const words = 'malformed version'
  const inside = body.into(tags.version, words)
  const bytes = inside.takeInteger(words)
  if ((bytes[0] as number) >= 0x80 || !inside.isAtEnd) fail(words)
  if (bytes.length > 1 || (bytes[0] as number) > versionLast) fail('invalid version')
  return bytes[0] as number
}

function readAlgorithm(identifier: Cursor): { algorithm: string; parameters: Buffer } {
  const algorithm = identifier.takeOid('malformed OID')
  if (identifier.isAtEnd) return { algorithm, parameters: Buffer.alloc(0) }
  return { algorithm, parameters: identifier.take(undefined, 'malformed parameters').whole }
}

function readName(name: Cursor): void {
  const words = 'invalid RDNSequence'
  while (!name.isAtEnd) {
    const set = name.into(tags.set, words)
    while (!set.isAtEnd) {
      const attribute = set.into(tags.sequence, `${words}: invalid attribute`)
      attribute.takeOid(`${words}: invalid attribute type`)
      const value = attribute.take(undefined, `${words}: invalid attribute value`)
      const problem = textProblem(value.tag, value.contents)
      if (problem !== undefined) fail(`${words}: invalid attribute value: ${problem}`)
    }
  }
}

const isUtf8 = (bytes: Buffer): boolean => Buffer.from(bytes.toString()).equals(bytes)
const matches = (pattern: RegExp) => (bytes: Buffer) => pattern.test(bytes.toString('latin1'))

/** String types in names: Go's name for each, and a check of its bytes. */
const texts: Readonly<Record<number, readonly [string, (bytes: Buffer) => boolean]>> = {
  12: ['UTF-8 string', isUtf8],
  18: ['NumericString', matches(/^[0-9 ]*$/)],
  19: ['PrintableString', matches(/^[A-Za-z0-9 '()+,\-./:=?*&]*$/)],
  20: ['T61String', () => true],
  22: ['IA5String', matches(/^[\0-\x7f]*$/)],
  30: ['BMPString', (bytes) => bytes.length % 2 === 0],
}

function textProblem(tag: number, bytes: Buffer): string | undefined {
  const text = texts[tag]
  if (text === undefined) return `unsupported string type: ${tag}`
  return text[1](bytes) ? undefined : `invalid ${text[0]}`
}

/** Time formats with two-digit and four-digit years. */
const times: Readonly<Record<number, readonly [string, RegExp]>> = {
  [tags.utcTime]: ['malformed UTCTime', /^\d{10}(\d\d)?(Z|[+-]\d{4})$/],
  [tags.generalizedTime]: ['malformed GeneralizedTime', /^\d{14}(Z|[+-]\d{4})$/],
}

function readTime(validity: Cursor): void {
  const kind = times[validity.tag ?? 0]
  const [words, pattern] = kind ?? fail('unsupported time format')
  const text = validity.take(undefined, words).contents.toString('latin1')
  if (!pattern.test(text) || !isDate(text)) fail(words)
}

/** Months, days, hours, minutes and seconds exist. */
function isDate(text: string): boolean {
  const digits = text.replace(/(Z|[+-]\d{4})$/, '')
  const full = digits.length === 14 ? digits : `20${digits.padEnd(12, '0')}`
  const [year, month, day, hour, minute, second] = full
    .replace(/^(....)(..)(..)(..)(..)(..)$/, '$1 $2 $3 $4 $5 $6')
    .split(' ')
    .map(Number) as [number, number, number, number, number, number]
  if (hour > 23 || minute > 59 || second > 59 || month < 1 || month > 12 || day < 1) return false
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}

function readKey(body: Cursor): void {
  const { contents, whole } = body.take(tags.sequence, 'malformed spki')
  const key = new Cursor(contents)
  const identifier = key.into(tags.sequence, 'malformed public key algorithm identifier')
  const { algorithm, parameters } = readAlgorithm(identifier)
  const bits = key.takeBits('malformed subjectPublicKey')
  const read = readPublicKey({ algorithm, parameters, bits, whole })
  if ('problem' in read) throw new Malformed(read.problem)
}

function readExtensions(body: Cursor): void {
  for (const tag of [0x81, 0x82]) if (body.tag === tag) body.take(tag, 'malformed extensions')
  if (body.tag !== tags.extensions) return
  const words = 'malformed extensions'
  const extensions = body.into(tags.extensions, words).into(tags.sequence, words)
  const found: (readonly [id: string, value: Buffer, critical: boolean])[] = []
  const seen = new Set<string>()
  while (!extensions.isAtEnd) {
    const extension = extensions.into(tags.sequence, 'malformed extension')
    const id = extension.takeOid('malformed extension OID field')
    const critical =
      extension.tag === tags.boolean && extension.takeBoolean('malformed extension critical field')
    const { contents } = extension.take(tags.bytes, 'malformed extension value field')
    if (seen.has(id)) fail(`certificate contains duplicate extension with OID "${dotted(id)}"`)
    seen.add(id)
    found.push([id, contents, critical])
  }
  // Go parses extensions after all of them have been read.
  for (const [id, value, critical] of found) readExtension(id, value, critical)
}

/** 550403 → 2.5.4.3 */
function dotted(hex: string): string {
  const numbers: number[] = []
  let value = 0
  for (const byte of Buffer.from(hex, 'hex')) {
    value = value * 128 + (byte & 0x7f)
    if (byte >= 0x80) continue
    numbers.push(value)
    value = 0
  }
  const [first = 0, ...rest] = numbers
  const top = Math.min(2, Math.floor(first / 40))
  return [top, first - top * 40, ...rest].join('.')
}
