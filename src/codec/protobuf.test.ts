import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, Loose } from '#api/object-meta.ts'
import { WireError } from '#base/wire.ts'
import { conform } from '#schema/conform.ts'
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'
import type { Struct } from '#schema/type.ts'
import {
  decodeMessage,
  EnvelopeError,
  encodeItem,
  encodeItems,
  encodeList,
  encodeObject,
  encodeWatchFrame,
  openEnvelope,
} from './protobuf.ts'

const string = scalar('string')
const inner = structOf('Inner', [field('s', string, 1, 'o'), field('n', scalar('int32'), 2, 'op')])
const recursive: Struct = structOf('Recursive', [field('next', () => recursive, 1, 'op')])
const thing = structOf('Thing', [
  field(
    '',
    structOf('TypeMeta', [field('kind', string, 1, 'o'), field('apiVersion', string, 2, 'o')]),
    0,
    'i',
  ),
  field('text', string, 1, 'o'),
  field('flag', scalar('bool'), 2, 'op'),
  field('big', scalar('int64'), 3, 'op'),
  field('list', listOf(scalar('int32')), 4, 'o'),
  field('map', mapOf(string), 5, 'o'),
  field('bytes', scalar('bytes'), 6, 'o'),
  field('time', scalar('time'), 7, 'op'),
  field('when', scalar('intOrString'), 8, 'op'),
  field('raw', scalar('any'), 9, 'op'),
  field('inner', inner, 10, 'op'),
  field('', structOf('Lifted', [field('lifted', inner, 1, 'op')]), 16, 'i'),
  field('wrapped', mapOf(listOf(string, { wrapped: true })), 17, 'o'),
  field('share', scalar('float64'), 18, 'op'),
])
/**
 * The message of an object without set fields: its text, and the inlined struct with a two-byte
 * field number.
 */
const nothing = ['0a00', '820100']

const messages: [string, Loose, string][] = [
  ['nothing', {}, ''],
  ['text', { text: 'hi' }, '0a026869'],
  ['a pointer to zero', { flag: false, big: 0 }, '10001800'],
  ['a negative number', { big: -2 }, '18feffffffffffffffff01'],
  ['a number beyond doubles', { big: 2n ** 62n }, '18808080808080808040'],
  ['a list, not packed', { list: [1, -1] }, '200120ffffffffffffffffff01'],
  ['a map, sorted', { map: { b: '', a: 'x' } }, '2a060a016112017' + '8' + '2a050a01621200'],
  ['bytes', { bytes: 'AAE=' }, '32020001'],
  ['a time', { time: '2021-08-04T18:00:00Z' }, '3a0808a0abab88061000'],
  ['an int', { when: 80 }, '420608001050' + '1a00'],
  ['a string', { when: 'http' }, '420a080110001a0468747470'],
  ['a raw value', { raw: { a: 1 } }, '4a090a077b2261223a317d'],
  ['a struct', { inner: { n: 3 } }, '52040a001003'],
  ['a wrapped list', { wrapped: { k: ['v'] } }, '8a01080a016b12030a0176'],
  ['a double', { share: 0.5 }, '9101000000000000e03f'],
]
for (const [name, object, hex] of messages) {
  test(`${name}`, () => {
    const bytes = encodeItem(thing, object)
    const text = hex.startsWith('0a02') ? '' : nothing[0]
    const position = Object.keys(object).some((key) => key === 'wrapped' || key === 'share')
    const expected = position ? text + nothing[1] + hex : text + hex + nothing[1]
    assert.equal(bytes.toString('hex'), expected)
    const again = conform(thing, decodeMessage(thing, bytes) as Json).value
    assert.deepEqual(again, object)
  })
}

test('an inlined struct is nested in protobuf and not in JSON', () => {
  const bytes = encodeItem(thing, { lifted: { s: 'x' } })
  assert.equal(bytes.toString('hex'), '0a00820105' + '0a030a0178')
  assert.deepEqual(conform(thing, decodeMessage(thing, bytes) as Json).value, {
    lifted: { s: 'x' },
  })
})

test('the envelope has the kind', () => {
  const bytes = encodeObject(thing, { kind: 'Thing', apiVersion: 'v1', text: 'a' })
  const raw = '0a0161820100'
  assert.equal(bytes.toString('hex'), `6b3873000a0b0a02763112055468696e671206${raw}1a002200`)
  const envelope = openEnvelope(bytes)
  assert.deepEqual([envelope.apiVersion, envelope.kind], ['v1', 'Thing'])
  assert.equal(envelope.raw.toString('hex'), raw)
})

test('a list of any length is its joined items', () => {
  const items = ['a', 'b'.repeat(200), 'c'.repeat(20_000)].map((text) =>
    encodeItem(inner, { s: text }),
  )
  const type = structOf('List', [
    field(
      'metadata',
      structOf('ListMeta', [
        field('selfLink', string, 1, 'o'),
        field('resourceVersion', string, 2, 'o'),
        field('continue', string, 3, 'o'),
      ]),
      1,
      'o',
    ),
    field('items', listOf(inner), 2),
  ])
  const list = encodeList({ kind: 'L', apiVersion: 'v1' }, items, { resourceVersion: '7' })
  const value = decodeMessage(type, openEnvelope(list).raw)
  assert.deepEqual(
    value['items'].map((item: Loose) => item['s'].length),
    [1, 200, 20_000],
  )
  assert.deepEqual(value['metadata'], { selfLink: '', resourceVersion: '7', continue: '' })
  assert.ok(encodeObject(type, { ...value, kind: 'L', apiVersion: 'v1' }).equals(list))
})

test('cached messages have memory of their own', () => {
  const message = encodeItem(thing, { text: 'hi' })
  const kept = { message, items: encodeItems([message]), frame: encodeWatchFrame('ADDED', message) }
  for (const [name, { length, buffer }] of Object.entries(kept))
    assert.equal(buffer.byteLength, length, name)
})

test('a watch frame has a length prefix, and only its object has an envelope', () => {
  const frame = encodeWatchFrame('ADDED', Buffer.from('6b387300', 'hex'))
  assert.equal(frame.toString('hex'), '0000000f' + '0a054144444544' + '1206' + '0a046b387300')
})

const envelopes: [string, string, string][] = [
  ['', '', 'empty data'],
  [
    '6b3873',
    '',
    'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
  ],
  [
    '6e756c6c',
    '',
    'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
  ],
  ['6b387300', '', 'empty body'],
  ['6b387300', '12ff', 'unexpected EOF'],
  ['6b387300', '0a050a7f', 'unexpected EOF'],
  ['6b387300', '0f', 'proto: wrong wireType = 7 for field TypeMeta'],
  ['6b387300', '1001', 'proto: wrong wireType = 0 for field Raw'],
  ['6b387300', '0a020801', 'proto: wrong wireType = 0 for field APIVersion'],
  ['6b387300', '2f', 'proto: illegal wireType 7'],
  ['6b387300', '04', 'proto: Unknown: wiretype end group for non-group'],
]
for (const [magic, rest, message] of envelopes) {
  test(`refuses the envelope ${magic}${rest}`, () => {
    assert.throws(() => openEnvelope(Buffer.from(magic + rest, 'hex')), {
      name: 'EnvelopeError',
      message,
    })
    assert.ok(new EnvelopeError() instanceof Error)
  })
}

/** Scalars that are messages in protobuf, and unions. */
const bounds = structOf('io.x.Bounds', [field('n', scalar('int32'), 1, 'op')])
const orBool = [field('Allows', scalar('bool'), 1), field('Schema', bounds, 2, 'op')]
const orList = [field('Schema', bounds, 1, 'op'), field('JSONSchemas', listOf(bounds), 2)]
const odd = structOf('io.x.Odd', [
  field('size', scalar('quantity'), 1, 'o'),
  field('length', scalar('duration'), 2, 'o'),
  field('moment', scalar('microTime'), 3, 'op'),
  field('time', scalar('time'), 4, 'op'),
  field('port', scalar('intOrString'), 5, 'o'),
  field('orBool', structOf('io.x.OrBool', orBool, { union: true }), 6, 'op'),
  field('orList', structOf('io.x.OrList', orList, { union: true }), 7, 'op'),
  field('sizes', mapOf(scalar('quantity')), 8, 'o'),
  field('blobs', mapOf(scalar('bytes')), 9, 'o'),
  field('raw', scalar('any'), 10, 'op'),
  field('count', scalar('uint32'), 11, 'op'),
  field('total', scalar('uint64'), 12, 'op'),
])
const decoded: [name: string, hex: string, expected: Loose][] = [
  ['a quantity', '0a050a03314769', { size: '1Gi' }],
  ['a quantity that is not there', '0a00', { size: '0' }],
  ['a quantity beside an unknown field', '0a0510010a0131', { size: '1' }],
  ['a duration', '12060880dea0cb05', { length: '1.5s' }],
  ['a duration below zero', '120b0880feffffffffffffff01', { length: '-256ns' }],
  ['a moment', '1a0608011080897a', { moment: '1970-01-01T00:00:01.002000Z' }],
  ['no moment', '1a00', { moment: null }],
  ['a time', '22020801', { time: '1970-01-01T00:00:01Z' }],
  ['a time beside an unknown field', '220508011a0178', { time: '1970-01-01T00:00:01Z' }],
  ['no time', '2200', { time: null }],
  ['the first second', '220b088092b8c398feffffff01', { time: '0001-01-01T00:00:00Z' }],
  ['the last second', '220708ff82d1ffaf07', { time: '9999-12-31T23:59:59Z' }],
  ['a number or text', '2a0408001005', { port: 5 }],
  ['text, whatever the number', '2a07080110051a0178', { port: 'x' }],
  ['neither', '2a00', { port: 0 }],
  ['a number beside an unknown field', '2a0410054801', { port: 5 }],
  ['yes', '32020801', { orBool: true }],
  ['no', '3200', { orBool: false }],
  ['a schema for yes', '320608011202080' + '7', { orBool: { n: 7 } }],
  ['a single one', '3a040a020807', { orList: { n: 7 } }],
  ['a list of one', '3a0412020807', { orList: [{ n: 7 }] }],
  ['a map', '42080a016112030a0131', { sizes: { a: '1' } }],
  ['an entry without its value', '4a030a0161', { blobs: { a: '' } }],
  ['an entry without its key', '4a0312017' + '8', { blobs: { '': 'eA==' } }],
  ['an entry beside an unknown field', '4a080a01611201781801', { blobs: { a: 'eA==' } }],
  ['entries of one key', '4a060a016112017' + '8' + '4a060a0161120179', { blobs: { a: 'eQ==' } }],
  ['no raw value', '5200', { raw: null }],
  ['an empty raw value', '52020a00', { raw: null }],
  ['a number without a sign', '58ffffffff0f', { count: 4294967295 }],
  ['a number without a sign, of eight bytes', '60ffffffffffffffffff01', { total: 2n ** 64n - 1n }],
  ['an unknown group', 'f30608' + '01' + 'f406', {}],
  ['nested groups', '9b06a306a406' + '9c06', {}],
  ['unknown fixed-length numbers', `9906${'00'.repeat(8)}9d06${'00'.repeat(4)}`, {}],
]
for (const [name, hex, expected] of decoded)
  test(`reads ${name}`, () =>
    assert.deepEqual(decodeMessage(odd, Buffer.from(hex, 'hex')), expected))

const always = structOf('io.x.Always', [
  field('moment', scalar('microTime'), 3, 'n'),
  field('time', scalar('time'), 4, 'n'),
])
const written: [name: string, value: Loose, hex: string][] = [
  ['moments that are not there', { moment: null, time: null }, '1a002200'],
  [
    'the first moments',
    { moment: '1970-01-01T00:00:00.000001Z', time: '1970-01-01T00:00:01Z' },
    '1a05080010e807220408011000',
  ],
]
for (const [name, value, hex] of written)
  test(`writes ${name}`, () => {
    const { raw } = openEnvelope(encodeObject(always, { kind: 'A', apiVersion: 'v1', ...value }))
    assert.equal(raw.toString('hex'), hex)
  })

const end = 'wiretype end group for non-group'
const late = 'proto: time out of range'
const broken: [string, string, string, type?: Struct][] = [
  ['cut off', '0a05616263', 'unexpected EOF'],
  ['a wrong wire type', '0801', 'proto: wrong wireType = 0 for field Text'],
  ['a wrong wire type of a list', '2d00000000', 'proto: wrong wireType = 5 for field Map'],
  ['a wrong wire type inside', '5202' + '0801', 'proto: wrong wireType = 0 for field S'],
  [
    'a wrong wire type of an inlined struct',
    '800101',
    'proto: wrong wireType = 0 for field Lifted',
  ],
  [
    'a raw value that is not JSON',
    '4a030a017b',
    'raw value is not JSON: unexpected end of JSON input',
  ],
  ['a time beyond all years', '3a0a08ffffffffffffffff7f', late],
  ['a key of a wrong type', '2a020801', 'unexpected EOF'],
  ['a value of a wrong type', '2a050a01611001', 'unexpected EOF'],
  ['field zero', '0001', 'proto: Thing: illegal tag 0 (wire type 0)'],
  ['the end of no group', '9c06', `proto: Thing: ${end}`],
  ['the end of no group inside', '52029c06', `proto: Inner: ${end}`],
  ['the end of a group at a known field', '0c', `proto: Thing: ${end}`],
  ['a group without its end', '9b060801', 'unexpected EOF'],
  ['a wire type that is not', '9e06', 'proto: illegal wireType 6'],
  ['a length beyond the end', '0affffffff0f', 'unexpected EOF'],
  ['a length beyond all numbers', '0affffffffffffffff7f', 'unexpected EOF'],
  [
    'a length below zero',
    '0affffffffffffffffff01',
    'proto: negative length found during unmarshaling',
  ],
  ['a number that never ends', `18${'ff'.repeat(10)}01`, 'proto: integer overflow'],
  ['a tag that never ends', `${'ff'.repeat(10)}01`, 'proto: integer overflow'],
  ['half a number', '1880', 'unexpected EOF'],
  ['half a fixed number', '99060000', 'unexpected EOF'],
  ['half a double', '91010000', 'unexpected EOF'],
  [
    'no quantity',
    '0a030a0178',
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    odd,
  ],
  ['a quantity of a wrong type', '0a020801', 'proto: wrong wireType = 0 for field String_', odd],
  ['the end of a group in a quantity', '0a029c06', `proto: Quantity: ${end}`, odd],
  ['a duration of a wrong type', '12030a0178', 'proto: wrong wireType = 2 for field Duration', odd],
  ['seconds of a wrong type', '22030a0178', 'proto: wrong wireType = 2 for field Seconds', odd],
  ['nanoseconds of a wrong type', '2203120178', 'proto: wrong wireType = 2 for field Nanos', odd],
  ['a billion nanoseconds', '22061080' + '94ebdc03', late, odd],
  ['nanoseconds below zero', '220b10ffffffffffffffffff01', late, odd],
  ['a second too early', '220b08ff91b8c398feffffff01', late, odd],
  ['a second too late', '2207088083d1ffaf07', late, odd],
  [
    'text or number, of a wrong type',
    '2a030a0178',
    'proto: wrong wireType = 2 for field Type',
    odd,
  ],
  ['a number of a wrong type', '2a03120178', 'proto: wrong wireType = 2 for field IntVal', odd],
  ['a text of a wrong type', '2a021801', 'proto: wrong wireType = 0 for field StrVal', odd],
  ['raw of a wrong type', '52020801', 'proto: wrong wireType = 0 for field Raw', odd],
]
for (const [name, hex, message, type = thing] of broken) {
  test(`refuses ${name}`, () => {
    const bytes = Buffer.from(hex, 'hex')
    assert.throws(
      () => decodeMessage(type, bytes),
      (error) => error instanceof WireError && error.message === message,
    )
  })
}

test('unknown fields are skipped, packed numbers are read, repeated messages are merged', () => {
  const hex = 'f80701' + '2203010203' + '52030a0161' + '52021005'
  assert.deepEqual(decodeMessage(thing, Buffer.from(hex, 'hex')), {
    list: [1, 2, 3],
    inner: { s: 'a', n: 5 },
  })
})

test('nesting has a limit', () => {
  let bytes = Buffer.alloc(0)
  for (let i = 0; i < 2000; i++) {
    const length = bytes.length
    const size = length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7]
    bytes = Buffer.concat([Buffer.from([0x0a, ...size]), bytes])
  }
  assert.throws(() => decodeMessage(recursive, bytes), { message: 'proto: exceeded max depth' })
})

test('nesting is counted as in JSON: lists are levels, and raw values continue the count', () => {
  const inLists: Struct = structOf('InLists', [
    field('all', () => listOf(inLists), 1, 'o'),
    field('raw', scalar('any'), 2, 'op'),
  ])
  const read = (levels: number, rawLevels: number) => {
    let object: Loose = { raw: JSON.parse('['.repeat(rawLevels) + ']'.repeat(rawLevels)) }
    for (let i = 0; i < levels; i++) object = { all: [object] }
    return decodeMessage(inLists, encodeItem(inLists, object))
  }
  assert.doesNotThrow(() => read(145, 1))
  assert.throws(() => read(151, 1), { message: 'proto: exceeded max depth' })
  assert.doesNotThrow(() => read(10, 270))
  assert.throws(() => read(10, 285), { message: /^raw value is not JSON: .*exceeded max depth$/ })
})

test('names of inherited members survive', () => {
  const object = JSON.parse('{"map":{"__proto__":"1","constructor":"2"}}')
  const value = decodeMessage(thing, encodeItem(thing, object))
  assert.deepEqual(Object.keys(value['map']), ['__proto__', 'constructor'])
})
