import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionError, errorCode } from './frames.ts'
import { HeaderDecoder } from './header-decoder.ts'
import { encodeHeaders } from './header-encoder.ts'

const decoderOf = (bytesMax: number) => new HeaderDecoder(bytesMax, (list) => list)

const request = (authority: string, ...more: string[]) => [
  ...[':method', 'GET', ':scheme', more.includes('https') ? 'https' : 'http'],
  ...[':path', more.includes('https') ? '/index.html' : '/', ':authority', authority],
]

/** The worked examples of RFC 7541, appendix C: consecutive blocks of one connection. */
const conversations: Record<string, [string, string[]][]> = {
  'texts as they are': [
    ['828684410f7777772e6578616d706c652e636f6d', request('www.example.com')],
    ['828684be58086e6f2d6361636865', [...request('www.example.com'), 'cache-control', 'no-cache']],
    [
      '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
      [...request('www.example.com', 'https'), 'custom-key', 'custom-value'],
    ],
  ],
  'packed texts': [
    ['828684418cf1e3c2e5f23a6ba0ab90f4ff', request('www.example.com')],
    ['828684be5886a8eb10649cbf', [...request('www.example.com'), 'cache-control', 'no-cache']],
    [
      '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
      [...request('www.example.com', 'https'), 'custom-key', 'custom-value'],
    ],
  ],
  'a field that is not to be kept': [
    ['100870617373776f726406736563726574', ['password', 'secret']],
    ['82', [':method', 'GET']],
  ],
  'the largest table, after a smaller one': [
    ['203fe11f400161016282', ['a', 'b', ':method', 'GET']],
    ['be', ['a', 'b']],
  ],
  'what was in the table before it was made smaller is gone': [
    ['4001610162', ['a', 'b']],
    ['203fe11f82', [':method', 'GET']],
    ['4001630164be', ['c', 'd', 'c', 'd']],
  ],
  'a field as large as the table stays': [
    ['3f03400161016282', ['a', 'b', ':method', 'GET']],
    ['be', ['a', 'b']],
  ],
  'a table of no size keeps nothing': [['20400161016282', ['a', 'b', ':method', 'GET']]],
}
for (const [name, blocks] of Object.entries(conversations)) {
  test(name, () => {
    const decoder = decoderOf(65536)
    for (const [hex, list] of blocks) {
      assert.deepEqual(decoder.decode(Buffer.from(hex, 'hex')), list)
    }
  })
}

const refused: [string, string, number][] = [
  ['number 0', '80', errorCode.compression],
  ['an unknown index', 'be', errorCode.compression],
  ['a text longer than the block', '000a61', errorCode.compression],
  ['a last text longer than the block', '0001610a62', errorCode.compression],
  ['a name alone', '40', errorCode.compression],
  ['a name without a value', '400161', errorCode.compression],
  ['a number without end', 'ffffffffffffffff', errorCode.compression],
  ['a table larger than allowed', '3fe21f', errorCode.compression],
  ['a new size after a field', '8220', errorCode.compression],
  ['packing that ends with zeros', '00810082f800', errorCode.compression],
  ['the end mark within a text', '0084ffffffff00', errorCode.compression],
  ['more than the limit', `00016164${'61'.repeat(100)}`, errorCode.enhanceYourCalm],
]
for (const [name, hex, code] of refused) {
  test(`refused: ${name}`, () => {
    assert.throws(
      () => decoderOf(100).decode(Buffer.from(hex, 'hex')),
      (error) => error instanceof ConnectionError && error.code === code,
    )
  })
}

test('headers may have exactly the maximum size', () => {
  const field = Buffer.from('4001610162', 'hex')
  const twice = Buffer.concat([field, Buffer.from('be', 'hex')])
  assert.deepEqual(decoderOf(68).decode(twice), ['a', 'b', 'a', 'b'])
  assert.throws(() => decoderOf(67).decode(twice), ConnectionError)
})

test('the oldest fields are evicted from the table', () => {
  const decoder = decoderOf(65536)
  const field = (name: string, size: number) =>
    Buffer.concat([
      Buffer.from([0x40, name.length]),
      Buffer.from(name),
      Buffer.from([0x7f, ((size - 127) & 127) | 128, (size - 127) >> 7]),
      Buffer.alloc(size, 'v'),
    ])
  decoder.decode(field('one', 2000))
  decoder.decode(field('two', 1900))
  assert.equal(decoder.decode(Buffer.from([0xbf]))[0], 'one')
  decoder.decode(field('three', 200))
  assert.deepEqual(
    [0xbe, 0xbf].map((byte) => decoder.decode(Buffer.from([byte]))[0]),
    ['three', 'two'],
  )
  assert.throws(() => decoder.decode(Buffer.from([0xc0])), ConnectionError)
})

test('decoding reverses encoding', () => {
  const headers = {
    'content-type': 'application/json',
    'x-long': 'x'.repeat(5000),
    'content-length': 17,
    warning: ['299 - "a"', '299 - "\u00e9"'],
  }
  for (const status of [200, 201, 404, 504]) {
    const list = decoderOf(65536).decode(Buffer.from(encodeHeaders(status, headers), 'latin1'))
    assert.deepEqual(list, [
      ...[':status', String(status), 'content-type', 'application/json'],
      ...['x-long', 'x'.repeat(5000), 'content-length', '17'],
      ...['warning', '299 - "a"', 'warning', '299 - "\u00e9"'],
    ])
  }
})

/** Consecutive blocks of one connection, and how many of them were decoded. */
const repeated: [string, string[], number, string[]][] = [
  ['a block that comes again is read once', ['82', '82', '82'], 1, [':method', 'GET']],
  ['so is each of some in turn', ['82', '83', '82', '83'], 2, [':method', 'POST']],
  ['a block that adds to the table is read each time', ['4001610162', '4001610162'], 2, ['a', 'b']],
  [
    'a number means another field once the table has grown',
    ['4001610162', 'be', 'be', '4001630164', 'be'],
    4,
    ['c', 'd'],
  ],
  [
    'a long block that adds to the table counts too',
    ['4001610162', 'be', `40016e7f8f0f${'76'.repeat(2062)}`, 'bf'],
    4,
    ['a', 'b'],
  ],
  [
    'a long block is read each time',
    Array(2).fill(`00016e7f8f0f${'76'.repeat(2062)}`),
    2,
    ['n', 'v'.repeat(2062)],
  ],
  [
    'a short block with a large result is decoded each time',
    [`40016e7f8707${'76'.repeat(1030)}`, 'bebe', 'bebe'],
    3,
    ['n', 'v'.repeat(1030), 'n', 'v'.repeat(1030)],
  ],
  [
    'of many blocks some are forgotten',
    [...Array.from({ length: 9 }, (_, i) => (0x82 + i).toString(16)), '82', '8a'],
    10,
    [':status', '206'],
  ],
]
for (const [name, blocks, readTimes, last] of repeated) {
  test(name, () => {
    let times = 0
    const decoder = new HeaderDecoder(65536, (list) => {
      times++
      return list
    })
    const stated = blocks.map((hex) => decoder.decode(Buffer.from(hex, 'hex')))
    assert.deepEqual(stated.at(-1), last)
    assert.equal(times, readTimes)
  })
}

test('the index of an evicted field is unknown', () => {
  const decoder = decoderOf(65536)
  decoder.decode(Buffer.from('4001610162', 'hex'))
  for (let i = 0; i < 2; i++) assert.deepEqual(decoder.decode(Buffer.from([0xbe])), ['a', 'b'])
  decoder.decode(Buffer.from('2082', 'hex'))
  assert.throws(() => decoder.decode(Buffer.from([0xbe])), ConnectionError)
})
