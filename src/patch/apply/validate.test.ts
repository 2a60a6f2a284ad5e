import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { processorMs } from '#base/processor-time.fixture.ts'
import { dict, field, listBy, struct, text } from './sample.suite.ts'
import { typeProblems } from './validate.ts'

const type = struct('Thing', [
  field('data', dict(text)),
  field('items', listBy(['name'], struct('Item', [field('name', text)]))),
])
const wrong = 60_000
const many: [what: string, value: Json][] = [
  ['members', { data: Object.fromEntries(Array.from({ length: wrong }, (_, i) => [`k${i}`, i])) }],
  ['repeated items', { items: Array.from({ length: wrong + 1 }, () => ({ name: 'a' })) }],
]
for (const [what, value] of many) {
  test(`many wrong ${what} are reported in one pass`, () => {
    let told: string | undefined
    const took = processorMs(() => {
      told = typeProblems(type, value)
    })
    assert.equal(told?.split('\n').length, wrong + 1)
    assert.ok(took < 2000, `${took} ms`)
  })
}
