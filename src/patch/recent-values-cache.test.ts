import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { RecentValuesCache } from './recent-values-cache.ts'

const template = (image: string): Json => ({ containers: [{ name: 'a', image }], priority: 0 })

test('a cached result is used for equal values, and for no others', () => {
  const met = new RecentValuesCache<string>()
  met.keep(template('one'), 'found')
  const rows: [string, Json, string | undefined][] = [
    ['the same', template('one'), 'found'],
    ['in another order', { priority: 0, containers: [{ image: 'one', name: 'a' }] }, 'found'],
    ['another text', template('two'), undefined],
    ['a member less', { containers: [{ name: 'a', image: 'one' }] }, undefined],
    ['a member more', { ...(template('one') as object), hostname: 'a' } as Json, undefined],
    ['an item more', { containers: [{ name: 'a', image: 'one' }, {}], priority: 0 }, undefined],
    ['null for zero', { containers: [{ name: 'a', image: 'one' }], priority: null }, undefined],
    ['a key called __proto__', JSON.parse('{"__proto__":{},"priority":0}'), undefined],
    ['a list', [], undefined],
    ['nothing', null, undefined],
  ]
  for (const [what, value, known] of rows) assert.equal(met.find(value), known, what)
})

test('a later change of a value does not change the cache', () => {
  const met = new RecentValuesCache<string>()
  const value = { containers: [{ image: 'one' }] }
  met.keep(value, 'found')
  value.containers[0].image = 'bad'
  assert.equal(met.find(value), undefined)
  assert.equal(met.find({ containers: [{ image: 'one' }] }), 'found')
})

test('the most recent values are cached', () => {
  const met = new RecentValuesCache<number>()
  for (let i = 0; i < 8; i++) met.keep({ i }, i)
  assert.equal(met.find({ i: 0 }), 0)
  met.keep({ i: 8 }, 8)
  assert.deepEqual(
    [0, 1, 2, 8].map((i) => met.find({ i })),
    [0, undefined, 2, 8],
  )
})

test('if values do not recur, few are cached, until they recur', () => {
  const met = new RecentValuesCache<number>()
  for (let i = 0; i < 1000; i++) met.keep({ i }, i)
  const kept = Array.from({ length: 1000 }, (_, i) => met.find({ i })).filter(
    (known) => known !== undefined,
  )
  assert.deepEqual(kept, [879, 895, 911, 927, 943, 959, 975, 991])
  met.keep({ i: 'new' }, 1000)
  assert.equal(met.find({ i: 'new' }), 1000)
})

test('large values, and values that contain null, are not cached', () => {
  const rows: [string, Json, boolean][] = [
    ['small', { a: 'x' }, true],
    ['a long text', { a: 'x'.repeat(40_000) }, false],
    ['many items', { a: Array.from({ length: 40_000 }, () => 0) }, false],
    ['null', { a: [{ b: null }] }, false],
  ]
  for (const [what, value, kept] of rows) {
    const met = new RecentValuesCache<true>()
    met.keep(value, true)
    assert.equal(met.find(value) ?? false, kept, what)
  }
})
