import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byText } from './by-text.ts'

test('the function runs once per text until the cache is full', () => {
  const requested: string[] = []
  const lengthOf = byText((text) => {
    requested.push(text)
    return `${text.length}`
  })
  assert.deepEqual(['a', 'bb', 'a', '', '', '__proto__'].map(lengthOf), [
    '1',
    '2',
    '1',
    '0',
    '0',
    '9',
  ])
  assert.deepEqual(requested, ['a', 'bb', '', '__proto__'])
  for (let i = 0; i < 256; i++) lengthOf(`text ${i}`)
  lengthOf('a')
  assert.equal(requested.filter((text) => text === 'a').length, 2)
  const long = 'x'.repeat(5000)
  assert.deepEqual([long, long].map(lengthOf), ['5000', '5000'])
  assert.equal(requested.filter((text) => text === long).length, 2)
})

test('a function that throws is called again', () => {
  let times = 0
  const find = byText((): string => {
    times++
    if (times < 3) throw new Error('not yet')
    return 'found'
  })
  assert.throws(() => find('a'))
  assert.throws(() => find('a'))
  assert.equal(find('a'), 'found')
  assert.equal(find('a'), 'found')
  assert.equal(times, 3)
})
