/**
 * Parses the extensions of issued certificates, with the errors of Go's parser. Extensions that Go
 * does not parse are accepted. Values are not checked.
 */
import { goQuote } from '#api/go-syntax.ts'
import { parseIp } from '#api/ip-address.ts'
import { alternativeNamesProblem } from './alternative-names.ts'
import { Cursor, fail, Malformed, tags } from './der-cursor.ts'
import { isDomainName } from './domain-name.ts'

/** Tags of their own that extensions give their parts. */
const context = { whole0: 0x80, whole1: 0x81, uri: 0x86, parts0: 0xa0, parts1: 0xa1 } as const

const uncritical = (name: string, critical: boolean): void => {
  if (critical) fail(`${name} incorrectly marked critical`)
}

type Read = (value: Cursor, critical: boolean, bytes: Buffer) => void

/** By the identifier, in hexadecimal. */
const readers: Readonly<Record<string, Read>> = {
  '551d0e': (value, critical) => {
    uncritical('subject key identifier', critical)
    value.take(tags.bytes, 'invalid subject key identifier')
  },
  '551d0f': (value) => void value.takeBits('invalid key usage'),
  '551d11': (_, __, bytes) => {
    const problem = alternativeNamesProblem(bytes)
    if (problem !== undefined) throw new Malformed(problem)
  },
  '551d13': readBasicConstraints,
  '551d1e': readNameConstraints,
  '551d1f': readDistributionPoints,
  '551d20': readPolicies,
  '551d21': readMappings,
  '551d23': readAuthorityKey,
  '551d24': readPolicyConstraints,
  '551d25': (value) => {
    const words = 'invalid extended key usages'
    const usages = value.into(tags.sequence, words)
    while (!usages.isAtEnd) usages.takeOid(words)
  },
  '551d36': (value) => value.takeCount('invalid inhibit any policy extension'),
  '2b06010505070101': readAuthorityInfo,
}

export function readExtension(id: string, bytes: Buffer, critical: boolean): void {
  const read = Object.hasOwn(readers, id) ? readers[id] : undefined
  read?.(new Cursor(bytes), critical, bytes)
}

function readBasicConstraints(value: Cursor): void {
  const words = 'invalid basic constraints'
  const constraints = value.into(tags.sequence, words)
  if (constraints.tag === tags.boolean) constraints.takeBoolean(words)
  if (constraints.tag === tags.integer) constraints.takeCount(words)
}

function readAuthorityKey(value: Cursor, critical: boolean): void {
  uncritical('authority key identifier', critical)
  const words = 'invalid authority key identifier'
  const key = value.into(tags.sequence, words)
  if (key.tag === context.whole0) key.take(context.whole0, words)
}

function readPolicyConstraints(value: Cursor): void {
  const words = 'invalid policy constraints extension'
  const constraints = value.into(tags.sequence, words)
  for (const tag of [context.whole0, context.whole1]) {
    if (constraints.tag === tag) constraints.takeCount(words, tag)
  }
}

function readPolicies(value: Cursor): void {
  const words = 'invalid certificate policies'
  const policies = value.into(tags.sequence, words)
  const seen = new Set<string>()
  while (!policies.isAtEnd) {
    const id = policies.into(tags.sequence, words).takeOid(words)
    if (seen.has(id)) fail(words)
    seen.add(id)
  }
}

function readMappings(value: Cursor): void {
  const words = 'invalid policy mappings extension'
  const mappings = value.into(tags.sequence, words)
  while (!mappings.isAtEnd) {
    const mapping = mappings.into(tags.sequence, words)
    mapping.take(tags.oid, words)
    mapping.take(tags.oid, words)
  }
}

function readDistributionPoints(value: Cursor): void {
  const points = value.into(tags.sequence, 'invalid CRL distribution points')
  const words = 'invalid CRL distribution point'
  while (!points.isAtEnd) {
    const point = points.into(tags.sequence, words)
    if (point.tag !== context.parts0) continue
    const names = point.into(context.parts0, words).into(context.parts0, words)
    while (names.tag === context.uri) names.take(context.uri, words)
  }
}

function readAuthorityInfo(value: Cursor, critical: boolean): void {
  uncritical('authority info access', critical)
  const words = 'invalid authority info access'
  const infos = value.into(tags.sequence, words)
  while (!infos.isAtEnd) {
    const info = infos.into(tags.sequence, words)
    info.takeOid(words)
    if (info.tag === context.uri) info.take(context.uri, words)
  }
}

function readNameConstraints(value: Cursor): void {
  const words = 'invalid NameConstraints extension'
  const constraints = value.into(tags.sequence, words)
  if (!value.isAtEnd) fail(words)
  const lists = [context.parts0, context.parts1].flatMap((tag) =>
    constraints.tag === tag ? [constraints.into(tag, words)] : [],
  )
  if (!constraints.isAtEnd) fail(words)
  if (lists.every((list) => list.isAtEnd)) fail('empty name constraints extension')
  for (const list of lists) {
    while (!list.isAtEnd) {
      const { tag, contents } = list.into(tags.sequence, words).take(undefined, words)
      if (Object.hasOwn(constraintsByTag, tag)) constraintsByTag[tag]?.(contents)
    }
  }
}

const constraintsByTag: Readonly<Record<number, (bytes: Buffer) => void>> = {
  129: (bytes) => {
    const text = asciiOf(bytes)
    // Complete addresses are not checked further.
    if (!text.includes('@')) requireDomain('rfc822Name', text)
  },
  130: (bytes) => requireDomain('dnsName', asciiOf(bytes)),
  134: (bytes) => {
    const text = asciiOf(bytes)
    if (parseIp(text) !== undefined) {
      fail(`failed to parse URI constraint ${goQuote(text)}: cannot be IP address`)
    }
    requireDomain('URI', text)
  },
  135: (bytes) => {
    if (bytes.length !== 8 && bytes.length !== 32) {
      fail(`IP constraint contained value of length ${bytes.length}`)
    }
    const mask = bytes.subarray(bytes.length / 2)
    const bits = [...mask].map((byte) => byte.toString(2).padStart(8, '0')).join('')
    if (!/^1*0*$/.test(bits)) fail(`IP constraint contained invalid mask ${mask.toString('hex')}`)
  },
}

function requireDomain(kind: string, text: string): void {
  if (!isDomainName(text, true)) fail(`failed to parse ${kind} constraint ${goQuote(text)}`)
}

function asciiOf(bytes: Buffer): string {
  if (bytes.every((byte) => byte < 0x80)) return bytes.toString('latin1')
  const shown = [...bytes]
    .map((byte) =>
      byte < 0x80 ? goQuote(String.fromCharCode(byte)).slice(1, -1) : `\\x${byte.toString(16)}`,
    )
    .join('')
  return fail(`invalid constraint value: x509: "${shown}" cannot be encoded as an IA5String`)
}
