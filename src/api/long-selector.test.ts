/**
 * Selectors with many terms: they match like all their terms, in time that depends only on the
 * object's labels.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorMs } from '#base/processor-time.fixture.ts'
import { labelMatcher, matchesLabels, parseLabelSelector } from './label-selector.ts'

const many = (count: number, term: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => term(i)).join(',')

const others = many(10, (i) => `!other${i}`)
const objects = [
  undefined,
  {},
  { a: '1' },
  { a: '5', b: 'x' },
  { a: '9', other3: '' },
  { a: 'x', b: 'y' },
  { b: 'x' },
  { a: '', constructor: 'x' },
  JSON.parse('{"__proto__":"x","a":"5"}'),
]
for (const term of [
  'a',
  '!a',
  'a=5',
  'a=5,a==5,a in (4,5,6)',
  'a=5,a=6',
  'a!=5,a!=6',
  `a in (${many(20, (i) => `${i}`)})`,
  `a notin (${many(20, (i) => `${i}`)})`,
  'a notin (5),a',
  'a=',
  'a!=',
  'a>4',
  'a>4,a>8,a>3',
  'a<9,a<2,a<8',
  'a>1,a<9,a!=5',
  'a,!a',
  'constructor',
  '!constructor',
  'toString!=x',
])
  test(`${term.slice(0, 30)} matches among many terms as it does alone`, () => {
    for (const text of [term, `${term},${others}`]) {
      const selector = parseLabelSelector(text)
      const matches = labelMatcher(selector)
      for (const labels of objects)
        assert.equal(matches(labels), matchesLabels(selector, labels), JSON.stringify(labels))
    }
  })

for (const text of [
  many(8000, (i) => `x${i}!=1`),
  many(8000, (i) => `!x${i}`),
  many(8000, (i) => `a!=${i}`),
  `a notin (${many(8000, (i) => `x${i}`)})`,
])
  test(`8000 terms such as ${text.slice(0, 14)} are matched against 10,000 objects quickly`, () => {
    const matches = labelMatcher(parseLabelSelector(text))
    const spentMs = processorMs(() => {
      for (let i = 0; i < 10_000; i++) assert.ok(matches({ a: `v${i}`, b: 'c' }))
    })
    assert.ok(spentMs < 500, `${spentMs} ms`)
  })
