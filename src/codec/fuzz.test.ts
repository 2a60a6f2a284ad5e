/**
 * Random and damaged input for every decoder: only the decoder's own error may occur. Seeded and
 * limited.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { WireError } from '#base/wire.ts'
import { conform } from '#schema/conform.ts'
import { seeded } from '#base/seeded.ts'
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'
import type { ScalarName, Struct } from '#schema/type.ts'
import { wantedForm, bodyFormat } from './media-type.ts'
import { keysOf, encodeJson, JsonError, parseJson } from './json.ts'
import { decodeMessage, EnvelopeError, encodeItem, encodeObject, openEnvelope } from './protobuf.ts'
import { encodeYaml, parseYaml } from './yaml.ts'
import { YamlError } from './yaml-error.ts'

const names: ScalarName[] = [
  'string',
  'bool',
  'int32',
  'int64',
  'uint32',
  'uint64',
  'float64',
  'bytes',
  'time',
  'microTime',
  'duration',
  'quantity',
  'intOrString',
  'any',
]
const type: Struct = structOf('Everything', [
  ...names.map((name, i) => field(name, scalar(name), i + 1, i % 2 === 0 ? 'o' : 'op')),
  field('list', () => listOf(type), 20, 'o'),
  field('map', () => mapOf(type), 21, 'o'),
  field('numbers', listOf(scalar('int64')), 22, 'o'),
  field('next', () => type, 23, 'op'),
])

const words = [
  '',
  'a',
  '1',
  'é',
  '🌊',
  '__proto__',
  'null',
  '1Gi',
  '5s',
  'AAE=',
  '2021-08-04T18:00:00Z',
  '\u0000',
  '\ud800',
]
const numbers = [0, 1, -1, 1.5, 2 ** 31, 2 ** 53, 9007199254740993n, -(2n ** 63n), 1e300]

function anyValue(random: (below: number) => number, depth: number): unknown {
  const pick = random(depth > 4 ? 5 : 8)
  if (pick === 0) return null
  if (pick === 1) return random(2) === 0
  if (pick < 4) return words[random(words.length)]
  if (pick === 4) return numbers[random(numbers.length)]
  if (pick === 5) return Array.from({ length: random(4) }, () => anyValue(random, depth + 1))
  const keys = [...type.byName.keys(), ...words]
  const entries = Array.from({ length: random(6) }, () => [
    keys[random(keys.length)],
    anyValue(random, depth + 1),
  ])
  return Object.fromEntries(entries)
}

/** Changes, truncates, duplicates or inserts bytes. */
function damage(bytes: Buffer, random: (below: number) => number): Buffer {
  const out = Buffer.from(bytes)
  for (let i = random(4); i >= 0 && out.length > 0; i--) out[random(out.length)] = random(256)
  const at = random(out.length + 1)
  const choice = random(4)
  if (choice === 0) return out.subarray(0, at)
  if (choice === 1)
    return Buffer.concat([out.subarray(0, at), out.subarray(random(out.length + 1))])
  if (choice === 2)
    return Buffer.concat([out.subarray(0, at), Buffer.from([random(256)]), out.subarray(at)])
  return out
}

/** Runs a decoder. An error of another class fails the test with the input that caused it. */
function survives<T>(decode: () => T, failures: (new () => Error)[], input: Buffer): T | undefined {
  try {
    return decode()
  } catch (error) {
    if (failures.some((failure) => error instanceof failure)) return undefined
    return assert.fail(`${(error as Error).stack}\nwith ${input.toString('base64')}`)
  }
}

const apiError = ApiError as unknown as new () => Error
const rounds = 1500

test('json', () => {
  const random = seeded(1)
  for (let i = 0; i < rounds; i++) {
    const bytes = encodeJson(anyValue(random, 0))
    assert.doesNotThrow(() => parseJson(bytes.toString()))
    const input = damage(bytes, random)
    const value = survives(() => parseJson(input.toString()), [JsonError], input)
    survives(() => keysOf(input.toString()), [], input)
    if (value !== undefined) survives(() => conform(type, value), [apiError], input)
  }
})

test('yaml', () => {
  const random = seeded(2)
  for (let i = 0; i < rounds / 5; i++) {
    const input = damage(encodeYaml(anyValue(random, 0)), random)
    const value = survives(() => parseYaml(input.toString()), [YamlError], input)
    if (value !== undefined) survives(() => conform(type, value), [apiError], input)
  }
})

test('yaml of random characters', () => {
  const random = seeded(3)
  const signs = [
    'a',
    ' ',
    '\n',
    '- ',
    ': ',
    '? ',
    '{',
    '}',
    '[',
    ']',
    ',',
    '&a ',
    '*a',
    '!!str ',
    '|',
    '>',
    '"',
    "'",
    '#',
    '%',
    '@',
    '\t',
    '<<: ',
    '---\n',
    '...\n',
    '~',
    '1',
  ]
  for (let i = 0; i < rounds / 3; i++) {
    const text = Array.from({ length: random(30) }, () => signs[random(signs.length)]).join('')
    survives(() => parseYaml(text), [YamlError], Buffer.from(text))
  }
})

test('protobuf', () => {
  const random = seeded(4)
  for (let i = 0; i < rounds; i++) {
    let object: Loose
    try {
      object = conform(type, anyValue(random, 0) as Json).value as Loose
    } catch {
      continue
    }
    const bytes = encodeItem(type, object ?? {})
    const again = conform(type, decodeMessage(type, bytes) as Json).value as Loose
    assert.ok(encodeItem(type, again).equals(bytes), JSON.stringify(object))
    const input = damage(bytes, random)
    const value = survives(() => decodeMessage(type, input), [WireError], input)
    if (value !== undefined) survives(() => conform(type, value as Json), [apiError], input)
    const envelope = damage(encodeObject(type, { ...object, kind: 'K', apiVersion: 'v1' }), random)
    survives(() => openEnvelope(envelope), [EnvelopeError], envelope)
  }
})

test('protobuf of random bytes', () => {
  const random = seeded(5)
  for (let i = 0; i < rounds; i++) {
    const input = Buffer.from(Array.from({ length: random(60) }, () => random(256)))
    survives(() => decodeMessage(type, input), [WireError], input)
  }
})

test('headers', () => {
  const random = seeded(6)
  const parts = [
    'application',
    '/',
    'json',
    '*',
    ';',
    ',',
    '=',
    'q',
    '0.5',
    'as',
    'Table',
    'g',
    'v',
    ' ',
    '"',
    '__proto__',
    'é',
  ]
  for (let i = 0; i < rounds; i++) {
    const header = Array.from({ length: random(16) }, () => parts[random(parts.length)]).join('')
    survives(() => wantedForm(header, 'built-in'), [apiError], Buffer.from(header))
    survives(() => bodyFormat(header), [apiError], Buffer.from(header))
  }
})
