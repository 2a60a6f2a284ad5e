import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from './entry.ts'
import { cachedParsed, cacheParsed } from './parsed-objects.ts'

const entryOf = (name: string) => ({ name, cut: { bytes: Buffer.from(name) } }) as unknown as Entry

test('an object is cached until the turn ends, and parsed again afterwards', async () => {
  const entry = entryOf('a')
  const object = { metadata: { name: 'a' } }
  const parse = () => ({ metadata: { name: 'parsed' } })
  cacheParsed(entry, object)
  await undefined
  assert.equal(cachedParsed(entry, parse).object, object)
  await new Promise(setImmediate)
  const parsed = cachedParsed(entry, parse).object
  assert.equal(parsed.metadata.name, 'parsed')
  assert.equal(cachedParsed(entry, parse).object, parsed)
})

test('a long batch is not cached as a whole', () => {
  const first = entryOf('0')
  const object = { metadata: { name: '0' } }
  cacheParsed(first, object)
  for (let i = 1; i <= 2000; i++) cacheParsed(entryOf(String(i)), { metadata: {} })
  assert.notEqual(cachedParsed(first, () => ({ metadata: {} })).object, object)
})
