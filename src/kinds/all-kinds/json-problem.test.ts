import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonProblem } from './json-problem.ts'

const map = 'map[string]interface {}'
const cases: [string, string | undefined][] = [
  ['{}', undefined],
  ['null', undefined],
  [' {"a": [1, -2.5e3, {"b": "\\u00e9"}], "c": {}} ', undefined],
  ['', 'unexpected end of JSON input'],
  ['{', 'unexpected end of JSON input'],
  ['{"a', 'unexpected end of JSON input'],
  ['[1]', `json: cannot unmarshal array into Go value of type ${map}`],
  ['"x"', `json: cannot unmarshal string into Go value of type ${map}`],
  ['true', `json: cannot unmarshal bool into Go value of type ${map}`],
  ['1', `json: cannot unmarshal number into Go value of type ${map}`],
  ['{"a":1}x', "invalid character 'x' after top-level value"],
  ['{a}', "invalid character 'a' looking for beginning of object key string"],
  ['{"a"}', "invalid character '}' after object key"],
  ['{"a":}', "invalid character '}' looking for beginning of value"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['[1 2]', "invalid character '2' after array element"],
  ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
  ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
  ['{"a":"\\u00g"}', "invalid character 'g' in \\u hexadecimal character escape"],
  ['{"a":"\n"}', "invalid character '\\n' in string literal"],
  ['nul', "invalid character ' ' in literal null (expecting 'l')"],
  ['-', "invalid character ' ' in numeric literal"],
  ['1.', "invalid character ' ' after decimal point in numeric literal"],
  ['1e', "invalid character ' ' in exponent of numeric literal"],
  ['\u00ff', "invalid character 'Ã' looking for beginning of value"],
]
for (const [text, expected] of cases) {
  test(`${JSON.stringify(text)}`, () => {
    assert.equal(jsonProblem(Buffer.from(text), 'object', map), expected)
  })
}

test('deep nesting is an error, not a stack overflow', () => {
  const deep = Buffer.from('['.repeat(200000))
  assert.equal(jsonProblem(deep, 'array', '[]x'), 'exceeded max depth')
})
