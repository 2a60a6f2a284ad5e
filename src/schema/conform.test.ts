import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { textWritten } from '#api/written-text.ts'
import { processorMs } from '#base/processor-time.fixture.ts'
import { conform } from './conform.ts'
import { field, listOf, mapOf, scalar, structOf } from './make-type.ts'
import type { Struct, Type } from './type.ts'

const string = scalar('string')
const typeMeta = structOf('TypeMeta', [
  field('kind', string, 1, 'o'),
  field('apiVersion', string, 2, 'o'),
])
const meta = structOf('ObjectMeta', [
  field('name', string, 1, 'o'),
  field('creationTimestamp', scalar('time'), 8, 'o'),
  field('deletionTimestamp', scalar('time'), 9, 'op'),
  field('labels', mapOf(string), 11, 'o'),
  field('finalizers', listOf(string), 14, 'o'),
])
const metaWithoutZeroes = structOf('ObjectMeta', [
  field('name', string, 1, 'o'),
  field('creationTimestamp', scalar('time'), 8, 'oz'),
])
const port = structOf('Port', [
  field('name', string, 1, 'o'),
  field('port', scalar('int32'), 3, 'r'),
  field('targetPort', scalar('intOrString'), 4, 'o'),
])
const volumeSource = structOf('VolumeSource', [
  field('emptyDir', structOf('EmptyDir', [field('medium', string, 1, 'o')]), 2, 'op'),
])
const volume = structOf('Volume', [field('name', string, 1), field('', volumeSource, 2, 'i')])
const schema: Struct = structOf('JSONSchemaProps', [
  field('type', string, 5, 'o'),
  field('items', () => orArray, 24, 'op'),
  field('additionalProperties', () => orBool, 30, 'op'),
  field('properties', () => mapOf(schema), 29, 'o'),
])
const orBool = structOf(
  'JSONSchemaPropsOrBool',
  [field('allows', scalar('bool'), 1), field('schema', () => schema, 2, 'p')],
  { union: true },
)
const orArray = structOf(
  'JSONSchemaPropsOrArray',
  [field('schema', () => schema, 1, 'p'), field('jSONSchemas', () => listOf(schema), 2)],
  { union: true },
)
const thing = structOf('Thing', [
  field('', typeMeta, 0, 'i'),
  field('metadata', meta, 1, 'o'),
  field('ports', listOf(port), 2, 'o'),
  field('volumes', listOf(volume), 3, 'o'),
  field('data', mapOf(scalar('bytes')), 4, 'o'),
  field('limits', mapOf(scalar('quantity')), 5, 'o'),
  field('replicas', scalar('int64'), 6, 'op'),
  field('extra', scalar('any'), 7, 'op'),
  field('schema', schema, 8, 'op'),
  field('on', scalar('bool'), 9, 'o'),
])

const small = (type: Type, flags = '') => structOf('Small', [field('x', type, 1, flags)])
const bare = { metadata: { creationTimestamp: null } }

const cases: [string, Type, Json, Json, string[]?][] = [
  ['zero values of a struct are filled in', thing, {}, bare],
  ['null is absent', thing, { metadata: null, ports: null, replicas: null, on: null }, bare],
  [
    'order is that of declaration',
    thing,
    { metadata: { name: 'a' }, kind: 'Thing' },
    { kind: 'Thing', metadata: { name: 'a', creationTimestamp: null } },
  ],
  [
    'unknown fields are dropped and named',
    thing,
    { bogus: 1, Metadata: {}, metadata: { nam: 'x' }, ports: [{ port: 1 }, { prot: 2, port: 3 }] },
    {
      ...bare,
      ports: [
        { port: 1, targetPort: 0 },
        { port: 3, targetPort: 0 },
      ],
    },
    ['bogus', 'Metadata', 'metadata.nam', 'ports[1].prot'],
  ],
  [
    'inlined fields are lifted',
    thing,
    { volumes: [{ name: 'v', emptyDir: {} }] },
    {
      ...bare,
      volumes: [{ name: 'v', emptyDir: {} }],
    },
  ],
  [
    'a null item is a zero item',
    thing,
    { ports: [null] },
    { ...bare, ports: [{ port: 0, targetPort: 0 }] },
  ],
  [
    'a null map value is a zero value',
    small(mapOf(string), 'o'),
    { x: { a: null } },
    { x: { a: '' } },
  ],
  [
    'map keys are sorted',
    small(mapOf(string), 'o'),
    { x: { b: '1', a: '2' } },
    { x: { a: '2', b: '1' } },
  ],
  ['omitempty drops', small(listOf(string), 'o'), { x: [] }, {}],
  ['an empty list without omitempty is null', small(listOf(string)), { x: [] }, { x: null }],
  ['an absent list without omitempty is null', small(listOf(string)), {}, { x: null }],
  ['a pointer keeps zero', small(string, 'op'), { x: '' }, { x: '' }],
  ['a pointer keeps an empty list', small(listOf(string), 'op'), { x: [] }, { x: [] }],
  ['an unset pointer without omitempty is null', small(meta, 'p'), {}, { x: null }],
  ['zero bytes', small(scalar('bytes')), {}, { x: null }],
  ['zero int', small(scalar('int32')), {}, { x: 0 }],
  ['zero quantity', small(scalar('quantity'), 'o'), {}, { x: '0' }],
  ['zero duration', small(scalar('duration'), 'o'), {}, { x: '0s' }],
  ['zero raw value', small(scalar('any'), 'o'), {}, { x: null }],
  ['an empty raw object is kept', small(scalar('any'), 'o'), { x: {} }, { x: {} }],
  ['false is dropped', small(scalar('bool'), 'o'), { x: false }, {}],
  [
    'time in another zone',
    small(scalar('time')),
    { x: '2021-08-04T20:00:00.9+02:00' },
    { x: '2021-08-04T18:00:00Z' },
  ],
  ['the zero time', small(scalar('time')), { x: '0001-01-01T00:00:00Z' }, { x: null }],
  [
    'micro time',
    small(scalar('microTime')),
    { x: '2021-08-04T18:00:00.123456Z' },
    { x: '2021-08-04T18:00:00.123456Z' },
  ],
  ['duration', small(scalar('duration')), { x: '90s' }, { x: '1m30s' }],
  [
    'quantity',
    thing,
    { limits: { cpu: 0.5, memory: '1024Ki' } },
    { ...bare, limits: { cpu: '500m', memory: '1Mi' } },
  ],
  ['int or string: int', small(scalar('intOrString')), { x: 80 }, { x: 80 }],
  ['int or string: string', small(scalar('intOrString')), { x: 'http' }, { x: 'http' }],
  ['base64 with line breaks', small(scalar('bytes')), { x: 'aGVs\nbG8=' }, { x: 'aGVsbG8=' }],
  ['bytes as a list', small(scalar('bytes')), { x: [104, 105] }, { x: 'aGk=' }],
  [
    'int64 beyond doubles',
    small(scalar('int64')),
    { x: 9007199254740993n as never },
    { x: 9007199254740993n as never },
  ],
  [
    'anything nested',
    small(scalar('any'), 'op'),
    { x: { a: [null, { b: 1 }] } },
    { x: { a: [null, { b: 1 }] } },
  ],
  ['a union as boolean', small(orBool, 'op'), { x: false }, { x: false }],
  [
    'a union as schema',
    small(orBool, 'op'),
    { x: { type: 'string', q: 1 } },
    { x: { type: 'string' } },
    ['x.q'],
  ],
  [
    'a union as list',
    small(orArray, 'op'),
    { x: [{ type: 'string' }] },
    { x: [{ type: 'string' }] },
  ],
  ['a union that fits none', small(orArray, 'op'), { x: 'yes' }, { x: null }],
  [
    'an open struct keeps',
    structOf('', [field('a', string, 0, 'op')], { open: true }),
    { b: 1, a: 'x' },
    { a: 'x', b: 1 },
  ],
]
for (const [name, type, raw, expected, unknown = []] of cases) {
  test(name, () => {
    const got = conform(type, raw)
    assert.deepEqual(got.value, expected)
    assert.deepEqual(Object.keys(got.value as object), Object.keys(expected as object))
    assert.deepEqual(got.unknown, unknown)
  })
}

const refusals: [string, Type, Json, string][] = [
  ['string', thing, { kind: 1 }, 'kind: expected a string, found number 1'],
  [
    'deep',
    thing,
    { ports: [{ port: 1 }, { port: 'x' }] },
    'ports[1].port: expected an int32, found string "x"',
  ],
  ['struct', thing, { metadata: [] }, 'metadata: expected an object, found a list'],
  ['list', thing, { ports: {} }, 'ports: expected a list, found an object'],
  [
    'map',
    thing,
    { metadata: { labels: 'x' } },
    'metadata.labels: expected an object, found string "x"',
  ],
  [
    'map value',
    thing,
    { metadata: { labels: { a: 1 } } },
    'metadata.labels.a: expected a string, found number 1',
  ],
  [
    'int32 range',
    small(scalar('int32')),
    { x: 2 ** 31 },
    'x: expected an int32, found number 2147483648',
  ],
  [
    'int64 range',
    small(scalar('int64')),
    { x: 2 ** 63 },
    'x: expected an int64, found number 9223372036854776000',
  ],
  ['fraction', small(scalar('int64')), { x: 1.5 }, 'x: expected an int64, found number 1.5'],
  ['bool', small(scalar('bool')), { x: 'true' }, 'x: expected a boolean, found string "true"'],
  ['base64', small(scalar('bytes')), { x: 'a!' }, 'x: expected base64 text, found string "a!"'],
  [
    'base64 unpadded',
    small(scalar('bytes')),
    { x: 'aGk' },
    'x: expected base64 text, found string "aGk"',
  ],
  ['time', small(scalar('time')), { x: 'now' }, 'x: expected a time, found string "now"'],
  [
    'quantity',
    small(scalar('quantity')),
    { x: '1 pound' },
    'x: expected a quantity, found string "1 pound"',
  ],
  [
    'int or string',
    small(scalar('intOrString')),
    { x: true },
    'x: expected an int32, found boolean true',
  ],
  [
    'union',
    small(orBool, 'op'),
    { x: 'yes' },
    'x: expected a boolean or a schema, found string "yes"',
  ],
  ['the whole', thing, [], 'expected an object, found a list'],
]
for (const [name, type, raw, why] of refusals) {
  test(`refuses: ${name}`, () => {
    const readAs = { kind: 'Thing', version: 'v1', as: 'Thing' }
    const message = `Thing in version "v1" cannot be handled as a Thing: ${why}`
    assert.throws(
      () => conform(type, raw, readAs),
      (error) => error instanceof ApiError && error.code === 400 && error.message === message,
    )
  })
}

test('names of inherited members are ordinary keys', () => {
  for (const text of [
    '{"__proto__":"1","constructor":"2"}',
    '{"constructor":"2","__proto__":"1"}',
  ]) {
    const labels = JSON.parse(text)
    const { value } = conform(thing, { metadata: { labels } } as Json)
    const out = (value as { metadata: { labels: object } }).metadata.labels
    assert.deepEqual(Object.keys(out), ['__proto__', 'constructor'])
    assert.equal(Object.getPrototypeOf(out), Object.prototype)
  }
})

test('the result has its own maps and lists', () => {
  const raw = { metadata: { labels: { a: 'b' }, finalizers: ['f'] } }
  const { value } = conform(thing, raw)
  raw.metadata.labels.a = 'changed'
  raw.metadata.finalizers.push('g')
  assert.deepEqual(value, {
    metadata: { creationTimestamp: null, labels: { a: 'b' }, finalizers: ['f'] },
  })
})

test('a computed quantity has no written text', () => {
  const type = structOf('Source', [field('target', scalar('quantity'), 1)])
  for (const [raw, text] of [
    [{}, ''],
    [{ target: null }, ''],
    [{ target: '1.5' }, '1.5'],
    [{ target: '2' }, undefined],
  ] as const) {
    assert.equal(textWritten(conform(type, raw as Json).value as object, 'target'), text)
  }
})

test('many deep unknown fields take one pass', () => {
  const type: Struct = structOf('Schema', [field('in', () => mapOf(type), 1)])
  let raw: Json = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]))
  for (let i = 0; i < 140; i++) raw = { in: { a: raw } }
  let unknown: string[] = []
  const took = processorMs(() => {
    unknown = conform(type, raw).unknown
  })
  assert.equal(unknown.length, 20_000)
  assert.equal(unknown[1], `${'in.a.'.repeat(140)}k1`)
  assert.ok(took < 1500, `${took} ms`)
})

for (const [raw, expected] of [
  [{ name: 'a' }, { name: 'a' }],
  [{ name: 'a', creationTimestamp: null }, { name: 'a' }],
  [{ creationTimestamp: '2020-01-02T03:04:05Z' }, { creationTimestamp: '2020-01-02T03:04:05Z' }],
] as const) {
  test(`${JSON.stringify(raw)}: omitzero leaves out a time that is not set`, () => {
    assert.deepEqual(conform(metaWithoutZeroes, raw as Json).value, expected)
  })
}
