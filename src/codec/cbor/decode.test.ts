/** CBOR documents item by item: the decoded value, or the error. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'
import type { Struct } from '#schema/type.ts'
import { decodeCborMap, openDocument, readDocument } from './decode.ts'
import { diagnose } from './diagnose.ts'
import { CborError, readItem } from './item.ts'

function outcome(read: () => unknown): string {
  try {
    return JSON.stringify(read())
  } catch (error) {
    if (error instanceof CborError) return error.message
    throw error
  }
}

const bytesOf = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')
const notAccepted = 'cbor: data item of cbor type primitives is not accepted by protocol: '
const int64 = (type: string, more: string) =>
  `cbor: cannot unmarshal ${type} into Go value of type int64 (${more} overflows Go's int64)`

/** The value of the key `v`. */
const values: [hex: string, expected: string][] = [
  ['00', '0'],
  ['17', '23'],
  ['1818', '24'],
  ['1b 7fffffffffffffff', '9223372036854775807'],
  ['1b ffffffffffffffff', int64('positive integer', '18446744073709551615')],
  ['20', '-1'],
  ['3b 7fffffffffffffff', '-9223372036854775808'],
  ['3b 8000000000000000', int64('negative integer', '-9223372036854775809')],
  ['f9 3e00', '1.5'],
  ['f9 0001', '5.960464477539063e-8'],
  ['f9 7bff', '65504'],
  ['fa 47c35000', '100000'],
  ['fb 3ff199999999999a', '1.1'],
  ['f9 7e00', `${notAccepted}floating-point NaN`],
  ['f9 7c00', `${notAccepted}floating-point infinity`],
  ['fa ff800000', `${notAccepted}floating-point infinity`],
  ['fb 7ff8000000000000', `${notAccepted}floating-point NaN`],
  ['f4', 'false'],
  ['f5', 'true'],
  ['f6', 'null'],
  ['f7', `${notAccepted}simple value 23 is not recognized`],
  ['e0', `${notAccepted}simple value 0 is not recognized`],
  ['f8ff', `${notAccepted}simple value 255 is not recognized`],
  ['f818', 'cbor: invalid simple value 24 for type primitives'],
  ['ff', 'cbor: unexpected "break" code'],
  ['1c', 'cbor: invalid additional information 28 for type positive integer'],
  ['1f', 'cbor: invalid additional information 31 for type positive integer'],
  ['43 616263', '"abc"'],
  ['63 616263', '"abc"'],
  ['62 c3bc', '"ü"'],
  ['61 ff', 'cbor: invalid UTF-8 string'],
  ['41 ff', '"\ufffd"'],
  ['5f 41 61 41 62 ff', '"ab"'],
  ['7f 61 61 61 62 ff', '"ab"'],
  ['5f 61 61 ff', 'cbor: wrong element type UTF-8 text string for indefinite-length byte string'],
  ['5f 5f ff ff', 'cbor: indefinite-length byte string chunk is not definite-length'],
  ['5f 41', 'unexpected EOF'],
  [
    '5b ffffffffffffffff',
    'cbor: byte string length 18446744073709551615 is too large, causing integer overflow',
  ],
  ['82 01 41 61', '[1,"a"]'],
  ['9f 01 ff', '[1]'],
  ['9b 00000000 ffffffff', 'cbor: exceeded max number of elements 2147483647 for CBOR array'],
  ['9a 00ffffff', 'unexpected EOF'],
  ['a1 41 61 01', '{"a":1}'],
  ['bf 61 61 01 ff', '{"a":1}'],
  ['bf 61 61 ff', 'cbor: unexpected "break" code'],
  ['a1 f6 01', '{"":1}'],
  ['ba 00ffffff', 'cbor: exceeded max number of key-value pairs 2097152 for CBOR map'],
  ['a2 41 61 01 61 61 02', 'cbor: found duplicate map key "a" at map element index 1'],
  ['a3 41 61 f7 41 62 01 41 62 01', 'cbor: found duplicate map key "b" at map element index 2'],
  ['a1 01 02', 'cbor: cannot unmarshal positive integer into Go value of type string'],
  ['d9d9f7 01', '1'],
  ['d6 42 0102', '"AQI="'],
  ['d5 42 fbff', '"-_8"'],
  ['d7 42 0aff', '"0aff"'],
  ['d6 81 42 0102', '["AQI="]'],
  ['d6 d7 42 0102', '"0102"'],
  ['c2 41 01', 'cbor: data item of cbor type tag is not accepted by protocol: bignum'],
  ['c0 74 323031332d30332d32315432303a30343a30305a', '"2013-03-21T20:04:00Z"'],
  ['c0 01', 'cbor: tag number 0 must be followed by text string, got positive integer'],
  ['c1 1a 514b67b0', '"2013-03-21T20:04:00Z"'],
  ['c1 fb 41d452d9ec200000', '"2013-03-21T20:04:00.5Z"'],
  [
    'c1 41 61',
    'cbor: tag number 1 must be followed by integer or floating-point number, got byte string',
  ],
  ['d8 20 41 61', '"a"'],
]
for (const [hex, expected] of values) {
  test(`${hex} is ${expected}`, () => {
    const bytes = Buffer.concat([bytesOf('d9d9f7 a1 4176'), bytesOf(hex)])
    const read = outcome(() => (decodeCborMap(bytes) as { v: unknown }).v)
    assert.equal(read, expected)
  })
}

const documents: [hex: string, expected: string][] = [
  ['', 'EOF'],
  ['d9d9f7', 'unexpected EOF'],
  ['f6', 'null'],
  ['a0 a0', 'cbor: 1 bytes of extraneous data starting at index 1'],
  ['01', 'cbor: cannot unmarshal positive integer into Go value of type map[string]interface {}'],
  ['81'.repeat(301), 'cbor: exceeded max nested level 300'],
  ['c6'.repeat(100_000), 'cbor: exceeded max nested level 300'],
]
for (const [hex, expected] of documents) {
  test(`document ${hex.slice(0, 20)}`, () =>
    assert.equal(
      outcome(() => decodeCborMap(bytesOf(hex))),
      expected,
    ))
}

test('__proto__ is an ordinary key', () => {
  const value = decodeCborMap(bytesOf('a1 49 5f5f70726f746f5f5f 01')) as object
  assert.deepEqual(Object.entries(value), [['__proto__', 1]])
})

const inner: Struct = structOf('io.k8s.api.core.v1.Inner', [
  field('port', scalar('int32'), 1),
  field('target', scalar('intOrString'), 2),
])
const outer: Struct = structOf('io.k8s.api.core.v1.Outer', [
  field('name', scalar('string'), 1),
  field('data', mapOf(scalar('bytes')), 2),
  field('list', listOf(inner), 3),
  field('on', scalar('bool'), 4),
  field('at', scalar('time'), 5),
  field('size', scalar('quantity'), 6),
  field('share', scalar('float64'), 7),
  field('any', scalar('any'), 8),
])
const misfit = (type: string, name: string, goType: string, more = '') =>
  `cbor: cannot unmarshal ${type} into Go struct field v1.Outer.${name} of type ${goType}${more}`
const unknownAt = (index: number) => `cbor: found unknown field at map element index ${index}`
const key = (name: string) =>
  Buffer.concat([Buffer.from([0x40 + name.length]), Buffer.from(name)]).toString('hex')

const typed: [hex: string, expected: string, ...strict: string[]][] = [
  [`a1 ${key('name')} 41 61`, '{"name":"a"}'],
  [`a1 ${key('name')} 01`, misfit('positive integer', 'name', 'string')],
  [`a1 ${key('name')} 80`, misfit('array', 'name', 'string')],
  [`a1 ${key('Name')} 41 61`, '{}', unknownAt(0)],
  [`a2 ${key('x')} f7 ${key('x')} 01`, 'cbor: found duplicate map key "x" at map element index 1'],
  [`a1 01 02`, '{}', unknownAt(0)],
  [`a1 ${key('on')} 01`, misfit('positive integer', 'on', 'bool')],
  [`a1 ${key('on')} f5`, '{"on":true}'],
  [`a1 ${key('on')} f6`, '{"on":null}'],
  [`a1 ${key('data')} a1 41 61 d6 43 616263`, '{"data":{"a":"YWJj"}}'],
  [`a1 ${key('data')} a1 41 61 d5 43 616263`, '{"data":{"a":"YWJj"}}'],
  [`a1 ${key('data')} a1 41 61 44 59574a6a`, '{"data":{"a":"YWJj"}}'],
  [
    `a1 ${key('data')} a1 41 61 42 0102`,
    'cbor: failed to decode base64 from byte string: illegal base64 data at input byte 0',
  ],
  [`a1 ${key('data')} a1 41 61 61 61`, misfit('UTF-8 text string', 'data', '[]uint8')],
  [
    `a1 ${key('list')} 81 a1 ${key('port')} 1a 80000000`,
    misfit('positive integer', 'list', 'int32', ' (2147483648 overflows int32)'),
  ],
  [`a1 ${key('list')} 81 a1 ${key('port')} f9 3c00`, misfit('primitives', 'list', 'int32')],
  [`a1 ${key('list')} 81 a1 ${key('target')} 44 68747470`, '{"list":[{"target":"http"}]}'],
  [`a1 ${key('list')} 81 a1 ${key('target')} f5`, misfit('primitives', 'list', 'int32')],
  [`a1 ${key('list')} a0`, misfit('map', 'list', '[]v1.Inner')],
  [
    `a1 ${key('list')} 81 80`,
    misfit(
      'array',
      'list',
      'v1.Inner',
      ' (cannot decode CBOR array to struct without toarray option)',
    ),
  ],
  [`a2 ${key('list')} 81 a1 ${key('y')} 01 ${key('x')} 01`, '{"list":[{}]}', unknownAt(1)],
  [
    `a1 ${key('at')} 43 666f6f`,
    'parsing time "foo" as "2006-01-02T15:04:05Z07:00": cannot parse "foo" as "2006"',
  ],
  [
    `a1 ${key('name')} 3b ffffffffffffffff`,
    misfit('negative integer', 'name', 'string', " (-18446744073709551616 overflows Go's int64)"),
  ],
  [
    `a1 3b ffffffffffffffff 01`,
    "cbor: cannot unmarshal negative integer into Go value of type int64 (-1-18446744073709551615 overflows Go's int64)",
  ],
  [`a1 ${key('size')} 42 3147`, '{"size":"1G"}'],
  [`a1 ${key('size')} 01`, misfit('positive integer', 'size', 'string')],
  [`a1 ${key('share')} 02`, '{"share":2}'],
  [`a1 ${key('any')} a1 41 61 f5`, '{"any":{"a":true}}'],
]
for (const [hex, expected, ...strict] of typed) {
  test(`a typed document: ${hex}`, () => {
    const read = () => readDocument(openDocument(bytesOf(hex)), outer)
    assert.equal(
      outcome(() => read().value),
      expected,
    )
    if (!expected.startsWith('{')) return
    assert.deepEqual(read().strictFaults, strict)
  })
}

test('a document contains its kind and apiVersion', () => {
  const { kind, apiVersion } = openDocument(bytesOf(`a1 ${key('kind')} 63 506f64`))
  assert.deepEqual([kind, apiVersion], ['Pod', ''])
  assert.equal(
    outcome(() => openDocument(bytesOf(`a1 ${key('kind')} 01`))),
    'cbor: cannot unmarshal positive integer into Go struct field v1.TypeMeta.kind of type string',
  )
})

test('diagnostic notation', () => {
  const hex = `d9d9f7 a2 ${key('a')} 84 01 20 f4 f9 3e00 61 62 41 ff`
  assert.equal(diagnose(readItem(bytesOf(hex))), `55799({'a': [1, -1, false, 1.5], "b": h'ff'})`)
})
