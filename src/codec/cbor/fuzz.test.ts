/**
 * Random objects are decoded as they were encoded; random and damaged bytes cause only the
 * decoder's own error. The number of cases is limited; a failure prints its seed.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { seeded } from '#base/seeded.ts'
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'
import { decodeCborMap, openDocument, readDocument } from './decode.ts'
import { encodeCbor } from './encode.ts'
import { CborError } from './item.ts'

const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
const rounds = 2000

const texts = ['', 'a', 'name', 'é', '🌊', '__proto__', 'x'.repeat(300), '\u0000']
const numbers = [0, 23, 24, 255, 256, 65536, 2 ** 40, -1, -25, 0.5, -1.1, 1e300, 5e-324]
const wide = [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n]

type Random = (below: number) => number

function anyValue(random: Random, depth: number): unknown {
  const pick = random(depth > 5 ? 5 : 7)
  if (pick === 0) return null
  if (pick === 1) return random(2) === 0
  if (pick === 2) return texts[random(texts.length)]
  if (pick === 3) return numbers[random(numbers.length)]
  if (pick === 4) return random(4) === 0 ? wide[random(wide.length)] : random(2 ** 31) - 2 ** 30
  if (pick === 5) return Array.from({ length: random(30) }, () => anyValue(random, depth + 2))
  return anyMap(random, depth + 1)
}

const anyMap = (random: Random, depth: number): Json =>
  Object.fromEntries(
    Array.from({ length: random(30) }, (_, i) => [
      random(2) === 0 ? texts[random(texts.length)] : `key${i}`,
      anyValue(random, depth),
    ]),
  ) as Json

function damaged(bytes: Buffer, random: Random): Buffer {
  const out = Buffer.from(bytes)
  for (let i = random(4); i >= 0 && out.length > 0; i--) out[random(out.length)] = random(256)
  return random(3) === 0 ? out.subarray(0, random(out.length + 1)) : out
}

const type = structOf('io.k8s.api.core.v1.Thing', [
  field('name', scalar('string'), 1),
  field('key1', mapOf(scalar('bytes')), 2),
  field('key2', listOf(scalar('int32')), 3),
  field('key3', () => type, 4),
])

function survives(read: () => unknown, input: Buffer): void {
  try {
    read()
  } catch (error) {
    if (error instanceof CborError) return
    assert.fail(`seed ${seed}: ${(error as Error).stack}\nwith ${input.toString('base64')}`)
  }
}

test(`objects come back, seed ${seed}`, () => {
  const random = seeded(seed)
  for (let i = 0; i < rounds / 10; i++) {
    const value = anyMap(random, 0)
    assert.deepEqual(decodeCborMap(encodeCbor(value)), value, `seed ${seed}, round ${i}`)
  }
})

test(`bytes never break the decoder, seed ${seed}`, () => {
  const random = seeded(seed)
  const whole = encodeCbor(anyMap(random, 2))
  for (let i = 0; i < rounds; i++) {
    const input =
      i % 2 === 0
        ? Buffer.from(Array.from({ length: random(60) }, () => random(256)))
        : damaged(whole.length < 4000 ? whole : whole.subarray(0, 4000), random)
    survives(() => decodeCborMap(input), input)
    survives(() => readDocument(openDocument(input), type), input)
  }
})
