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
/** What is written of a thing of which nothing is set: its text, and the lifted struct with its number of two bytes. */
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

test('an inlined struct is nested in protobuf and lifted in JSON', () => {
  const bytes = encodeItem(thing, { lifted: { s: 'x' } })
  assert.equal(bytes.toString('hex'), '0a00820105' + '0a030a0178')
  assert.deepEqual(conform(thing, decodeMessage(thing, bytes) as Json).value, {
    lifted: { s: 'x' },
  })
})

test('the envelope names the kind', () => {
  const bytes = encodeObject(thing, { kind: 'Thing', apiVersion: 'v1', text: 'a' })
  const raw = '0a0161820100'
  assert.equal(bytes.toString('hex'), `6b3873000a0b0a02763112055468696e671206${raw}1a002200`)
  const envelope = openEnvelope(bytes)
  assert.deepEqual([envelope.apiVersion, envelope.kind], ['v1', 'Thing'])
  assert.equal(envelope.raw.toString('hex'), raw)
})

test('a list is its items joined, of any length', () => {
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

test('a watch frame has its length in front, and no envelope but that of its object', () => {
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
  ['6b387300', '0f', 'proto: illegal wireType 7'],
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

const broken: [string, string, string][] = [
  ['cut off', '0a05616263', 'unexpected EOF'],
  ['a wrong wire type', '0801', 'proto: wrong wireType = 0 for field text'],
  [
    'a raw value that is no JSON',
    '4a030a017b',
    'raw value is not JSON: unexpected end of JSON input',
  ],
  ['a time beyond all years', '3a0a08ffffffffffffffff7f', 'proto: time out of range'],
  ['a map entry of a wrong type', '2a020801', 'proto: wrong wireType = 0 for field map'],
]
for (const [name, hex, message] of broken) {
  test(`refuses ${name}`, () => {
    const bytes = Buffer.from(hex, 'hex')
    assert.throws(
      () => decodeMessage(thing, bytes),
      (error) => error instanceof WireError && error.message === message,
    )
  })
}

test('unknown fields are passed over, packed numbers read, repeated messages merged', () => {
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

test('keys of the language survive', () => {
  const object = JSON.parse('{"map":{"__proto__":"1","constructor":"2"}}')
  const value = decodeMessage(thing, encodeItem(thing, object))
  assert.deepEqual(Object.keys(value['map']), ['__proto__', 'constructor'])
})
