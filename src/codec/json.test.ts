import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorMs } from '#base/processor-time.fixture.ts'
import {
  decodeJson,
  decodeWritten,
  keysOf,
  encodeJson,
  hasUniqueKeys,
  isOdd,
  JsonError,
  nestingDepthMax,
  parseJson,
  storedDepthMax,
} from './json.ts'

const faults: [string, string][] = [
  ['', 'unexpected end of JSON input'],
  ['{', 'unexpected end of JSON input'],
  ['{"a":"b', 'unexpected end of JSON input'],
  ['[1,', 'unexpected end of JSON input'],
  ['tru', "invalid character ' ' in literal true (expecting 'e')"],
  ['[1.', "invalid character ' ' after decimal point in numeric literal"],
  ['-', "invalid character ' ' in numeric literal"],
  ['"\\', "invalid character ' ' in string escape code"],
  ['apiVersion: v1', "invalid character 'a' looking for beginning of value"],
  ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['[1 2]', "invalid character '2' after array element"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['{} x', "invalid character 'x' after top-level value"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['nulx', "invalid character 'x' in literal null (expecting 'l')"],
  ['[01]', "invalid character '1' after array element"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1ex', "invalid character 'x' in exponent of numeric literal"],
  ['-x', "invalid character 'x' in numeric literal"],
  ["'a'", "invalid character '\\'' looking for beginning of value"],
  ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
  ['\u0081', "invalid character 'Â' looking for beginning of value"],
]
for (const [text, message] of faults) {
  test(`refuses ${JSON.stringify(text)}`, () => {
    assert.throws(
      () => parseJson(text),
      (error) => error instanceof JsonError && error.message === message,
    )
  })
}

test('invalid UTF-8 bytes are shown unchanged', () => {
  const rows: [bytes: string, message: string][] = [
    ['\xc7', "invalid character 'Ç' looking for beginning of value"],
    ['{"\xff":\x80}', "invalid character '\\u0080' looking for beginning of value"],
  ]
  for (const [bytes, message] of rows)
    assert.throws(() => decodeWritten(Buffer.from(bytes, 'latin1')), { message })
})

test('lone surrogates are replaced, complete pairs stay', () => {
  const rows: [text: string, value: string][] = [
    ['\\ud83d\\ude00', '\u{1f600}'],
    ['\\uD83D\\uDE00!', '\u{1f600}!'],
    ['\\ud800', '\ufffd'],
    ['\\ud800x', '\ufffdx'],
    ['\\udc00', '\ufffd'],
    ['\\udc00\\ud800', '\ufffd\ufffd'],
    ['\\ud800\\ud83d\\ude00', '\ufffd\u{1f600}'],
    ['\\ud800\\u0041\\ud7ff', '\ufffdA\ud7ff'],
    ['\\\\ud800', '\\ud800'],
    ['\\"\\ud800\\"', '"\ufffd"'],
  ]
  for (const [text, value] of rows)
    assert.deepEqual(decodeWritten(Buffer.from(`{"${text}":"${text}"}`)), { [value]: value }, text)
})

test('nesting has a limit', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  assert.doesNotThrow(() => parseJson(nested(nestingDepthMax)))
  for (const depth of [nestingDepthMax + 1, 100_000]) {
    assert.throws(() => parseJson(nested(depth)), {
      name: 'JsonError',
      message: "invalid character '[' exceeded max depth",
    })
  }
})

test('stored objects may be deeper than a body, because of managedFields', () => {
  const nested = (depth: number) => Buffer.from('['.repeat(depth) + ']'.repeat(depth))
  assert.doesNotThrow(() => decodeJson(nested(nestingDepthMax + 5)))
  assert.throws(() => decodeWritten(nested(nestingDepthMax + 1)), { name: 'JsonError' })
  assert.throws(() => decodeJson(nested(storedDepthMax + 1)), { name: 'JsonError' })
})

test('64-bit integers are exact', () => {
  const text =
    '{"a":9223372036854775807,"b":[-9223372036854775808,1.5],"c":1e300,"d":99999999999999999999}'
  const value = parseJson(text) as Record<string, unknown>
  assert.equal(value['a'], 9223372036854775807n)
  assert.deepEqual(value['b'], [-9223372036854775808n, 1.5])
  assert.equal(value['c'], 1e300)
  assert.equal(value['d'], 1e20)
  assert.equal(encodeJson({ a: value['a'] }).toString(), '{"a":9223372036854775807}\n')
  assert.equal(parseJson('9007199254740993'), 9007199254740993n)
})

test('names of inherited members survive, exact or not', () => {
  for (const text of [
    '{"__proto__":{"constructor":1}}',
    '{"__proto__":{"constructor":9007199254740993}}',
  ]) {
    assert.equal(encodeJson(parseJson(text)).toString(), `${text}\n`)
  }
})

test('bytes that are not UTF-8 are replaced', () => {
  assert.deepEqual(decodeJson(Buffer.from('7b2261223a22ff227d', 'hex')), { a: '\ufffd' })
})

test('the last of equal keys is used, and they are reported', () => {
  const text = '{"a":1,"m":{"x":1,"x":2},"l":[{},{"y":1,"\\u0079":2}],"a":3}'
  assert.deepEqual(parseJson(text), { a: 3, m: { x: 2 }, l: [{}, { y: 2 }] })
  const again = keysOf(text).flatMap((key) => (key.again ? [key.path] : []))
  assert.deepEqual(again, ['m.x', 'l[1].y', 'a'])
})

test('pretty output', () => {
  assert.equal(encodeJson({ a: [1] }, true).toString(), '{\n  "a": [\n    1\n  ]\n}')
})

test('a value remembers that its text has more information', () => {
  const cases: [text: string, odd: boolean][] = [
    ['{"a":{"b":[1,-2,"x:{}\\"1.5"]},"c":null,"__proto__":{"d":true}}', false],
    [`{"a":"${'x'.repeat(90)}\\\\\\":${'y'.repeat(90)}\\\\","b":1}`, false],
    ['{"a":"2021.5e3"}', false],
    ['{"a":{"b":1,"b":1}}', true],
    ['{"a":1,"\\u0061":2}', true],
    ['[1.0]', true],
    ['[1e3]', true],
    ['[1E3]', true],
    ['[-0.5]', true],
    ['[12345678901234567]', true],
  ]
  for (const [text, odd] of cases) assert.equal(isOdd(decodeWritten(Buffer.from(text))), odd, text)
  assert.equal(decodeWritten(Buffer.from('12345678901234567')), 12345678901234567n)
  assert.throws(() => decodeWritten(Buffer.from(`${'['.repeat(301)}${']'.repeat(301)}`)), JsonError)
  assert.throws(() => decodeWritten(Buffer.from('{"a":')), JsonError)
})

test('many deep keys are reported in one pass', () => {
  const keys = Array.from({ length: 50_000 }, (_, i) => `"k${i}":1`).join()
  const text = `${'{"a":'.repeat(290)}{${keys}}${'}'.repeat(290)}`
  let reported: string[] = []
  const took = processorMs(() => {
    reported = keysOf(text).map(({ path }) => path)
  })
  assert.equal(reported.at(-1), `${'a.'.repeat(290)}k49999`)
  assert.ok(took < 1500, `${took} ms`)
})

test('JSON has unique keys unless an object has one twice', () => {
  const rows: [text: string, unique: boolean][] = [
    ['{"a":{"b":1},"c":[{"b":1},{"b":2}]}', true],
    ['{"a":"\\"b\\":1","b":1}', true],
    ['{"a":1,"a":1}', false],
    ['{"a":[{"b":1,"b":2}]}', false],
    ['{"a":1,"\\u0061":1}', false],
    ['a: 1', false],
    ['[]', true],
  ]
  for (const [text, unique] of rows) assert.equal(hasUniqueKeys(Buffer.from(text)), unique, text)
})
