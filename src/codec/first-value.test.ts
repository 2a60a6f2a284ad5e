import assert from 'node:assert/strict'
import test from 'node:test'
import { firstValue } from './first-value.ts'

test('the end of the first value', () => {
  const cases: [text: string, first: string][] = [
    ['{}x', '{}'],
    ['{} {}', '{}'],
    [' {"a":"}"} trailing', ' {"a":"}"}'],
    ['{"a":"\\"}"}{"b":1}', '{"a":"\\"}"}'],
    ['[{"a":[1]}]]', '[{"a":[1]}]'],
    ['"x"y', '"x"'],
    ['"a\\\\"b', '"a\\\\"'],
    ['1 2', '1'],
    ['null{}', 'null'],
    ['true"x"', 'true'],
    ['{"open":1', '{"open":1'],
    ['', ''],
  ]
  for (const [text, first] of cases) {
    assert.equal(firstValue(Buffer.from(text)).toString(), first, text)
  }
})
