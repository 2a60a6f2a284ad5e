import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'
import { readGoJson, refusedWhole } from './decode.ts'

const string = scalar('string')
const core = (name: string) => `io.k8s.api.core.v1.${name}`
const meta = structOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', [
  field('name', string, 1, 'o'),
  ...['generateName', 'namespace', 'selfLink', 'uid', 'resourceVersion'].map((name, i) =>
    field(name, string, i + 2, 'o'),
  ),
  field('generation', scalar('int64'), 7, 'o'),
  field('creationTimestamp', scalar('time'), 8, 'o'),
  field('deletionTimestamp', scalar('time'), 9, 'op'),
  field('labels', mapOf(string), 11, 'o'),
  field('finalizers', listOf(string), 14, 'o'),
])
const port = structOf(core('ServicePort'), [
  field('name', string, 1, 'o'),
  field('port', scalar('int32'), 3),
  field('targetPort', scalar('intOrString'), 4, 'o'),
])
const emptyDir = structOf(core('EmptyDirVolumeSource'), [
  field('medium', string, 1, 'o'),
  field('sizeLimit', scalar('quantity'), 2, 'op'),
])
const source = structOf(core('VolumeSource'), [
  field('emptyDir', emptyDir, 2, 'op'),
  field('none', structOf(core('None'), []), 3, 'op'),
])
const volume = structOf(core('Volume'), [field('name', string, 1), field('', source, 2, 'i')])
const spec = structOf(core('ServiceSpec'), [
  field('ports', listOf(port), 1, 'o'),
  field('selector', mapOf(string), 2, 'o'),
  field('volumes', listOf(volume), 3, 'o'),
  field('on', scalar('bool'), 4, 'o'),
  field('ratio', scalar('float64'), 5, 'op'),
  field('every', scalar('duration'), 6, 'op'),
])
const service = structOf(core('Service'), [
  field('metadata', meta, 1, 'o'),
  field('spec', spec, 2, 'o'),
  field('data', mapOf(scalar('bytes')), 3, 'o'),
])

const near = (before: string, after: string) =>
  `error found in #${Buffer.byteLength(before)} byte of ...|${before}${after}|...`
const ports = 'v1.Service.Spec: v1.ServiceSpec.Ports: []v1.ServicePort: v1.ServicePort.'

const faults: [text: string, begins: string, where: string][] = [
  [
    '{"spec":1}',
    'v1.Service.Spec: readObjectStart: expect { or n, but found 1',
    near('{"spec":1', '}'),
  ],
  [
    '{"spec":1,"metadata":{"name":"a"}}',
    'v1.Service.ObjectMeta: v1.ObjectMeta.Spec: readObjectStart: expect { or n, but found 1',
    near('{"spec":1', ',"metadata'),
  ],
  [
    '{"spec":{"ports":[{"port":1.0}]}}',
    `${ports}Port: assertInteger: can not decode float as int`,
    near('[{"port":1', '.0}]}}'),
  ],
  [
    '{"spec":{"ports":[{"port":1e3}]}}',
    `${ports}isObjectEnd: object ended prematurely, unexpected char e`,
    near('{"port":1e', '3}]}}'),
  ],
  [
    '{"spec":{"ports":[{"port":99999999999}]}}',
    `${ports}Port: readUint32: overflow`,
    near('":99999999', '999}]}}'),
  ],
  [
    '{"spec":{"ports":[{"port":2147483648}]}}',
    `${ports}Port: ReadInt32: overflow: 2147483648`,
    near('2147483648', '}]}}'),
  ],
  [
    '{"spec":{"ports":[{"port":{}}]}}',
    `${ports}Port: readUint32: unexpected character: \ufffd`,
    near('[{"port":{', '}}]}}'),
  ],
  [
    '{"spec":{"ports":[{"targetPort":1.5}]}}',
    `${ports}TargetPort: unmarshalerDecoder: json: cannot unmarshal number 1.5 into Go value of type int32`,
    near('tPort":1.5', '}]}}'),
  ],
  [
    '{"spec":{"ports":{}}}',
    'v1.Service.Spec: v1.ServiceSpec.Ports: []v1.ServicePort: decode slice: expect [ or n, but found {',
    near('"ports":{', '}}}').replace('#9', '#10').replace('|"p', '|{"p'),
  ],
  [
    '{"metadata":{"name":1,"labels":{"a":1}},"spec":{}}',
    'v1.Service.ObjectMeta: v1.ObjectMeta.Labels: Name: ReadString: expects " or n, but found 1',
    near(':{"name":1', ',"labels":'),
  ],
  [
    '{"metadata":{"uid":1}}',
    'v1.Service.ObjectMeta: v1.ObjectMeta.UID: ReadString: expects " or n, but found 1',
    near('a":{"uid":1', '}}').replace('#11', '#10').replace('|a"', '|"'),
  ],
  [
    '{"metadata":{"labels":[]}}',
    'v1.Service.ObjectMeta: v1.ObjectMeta.Labels: ReadMapCB: expect { or n, but found [',
    near('"labels":[', ']}}'),
  ],
  [
    '{"metadata":{"creationTimestamp":"x"}}',
    'v1.Service.ObjectMeta: v1.ObjectMeta.CreationTimestamp: unmarshalerDecoder: parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    near('stamp":"x"', '}}'),
  ],
  [
    '{"spec":{"volumes":[{"name":"v","emptyDir":{"medium":3}}]}}',
    'v1.Service.Spec: v1.ServiceSpec.Volumes: []v1.Volume: v1.Volume.VolumeSource: EmptyDir: v1.EmptyDirVolumeSource.Medium: ReadString: expects " or n, but found 3',
    near('"medium":3', '}}]}}'),
  ],
  [
    '{"spec":{"volumes":[{"none":7}]}}',
    'v1.Service.Spec: v1.ServiceSpec.Volumes: []v1.Volume: v1.Volume.VolumeSource: None: skipObjectDecoder: expect object or null',
    near('[{"none":', '7}]}}').replace('#9', '#10').replace('|[{', '|:[{'),
  ],
  [
    '{"spec":{"on":"x"}}',
    'v1.Service.Spec: v1.ServiceSpec.On: ReadBool: expect t or f, but found "',
    near('":{"on":"', 'x"}}').replace('#9', '#10').replace('|":', '|c":'),
  ],
  [
    '{"spec":{"ratio":"x"}}',
    'v1.Service.Spec: v1.ServiceSpec.Ratio: readNumberAsString: invalid number',
    near('{"ratio":', '"x"}}').replace('#9', '#10').replace('|{"', '|:{"'),
  ],
  [
    '{"spec":{"every":"1x"}}',
    'v1.Service.Spec: v1.ServiceSpec.Every: unmarshalerDecoder: time: unknown unit "x" in duration "1x"',
    near('every":"1x"', '}}').replace('#11', '#10').replace('|e', '|'),
  ],
  [
    '{"data":{"k":"YQ"}}',
    'v1.Service.Data: decode base64: illegal base64 data at input byte 0',
    near(':{"k":"YQ"', '}}'),
  ],
  [
    '{"data":{"k":[300]}}',
    'v1.Service.Data: []uint8: ReadUint8: overflow: 300',
    near(':{"k":[300', ']}}'),
  ],
  ['{"data":{"k":1}}', 'v1.Service.Data: base64Codec: invalid input', near('ata":{"k":', '1}}')],
  [
    '{"metadata":{"labels":{"日本語":12}}}',
    'v1.Service.ObjectMeta: v1.ObjectMeta.Labels: ReadString: expects " or n, but found 1',
    'error found in #10 byte of ...|\ufffd本語":12}}}|...',
  ],
]

test('errors have the messages of kube-apiserver', () => {
  for (const [text, begins, where] of faults) {
    const read = readGoJson(Buffer.from(text), service)
    assert.ok('fault' in read, text)
    assert.equal(read.fault.slice(0, begins.length), begins, text)
    assert.ok(read.fault.includes(where), `${text}\n${read.fault}\n${where}`)
  }
})

const values: [name: string, text: string, value: Json][] = [
  ['structs', '{"spec":{"on":true},"spec":{"ratio":1e2}}', { spec: { on: true, ratio: 100 } }],
  ['null leaves a struct', '{"spec":{"on":true},"spec":null}', { spec: { on: true } }],
  ['null empties a text', '{"metadata":{"name":"a","name":null}}', { metadata: { name: '' } }],
  [
    'null leaves a number',
    '{"spec":{"ports":[{"port":1,"port":null}]}}',
    { spec: { ports: [{ port: 1 }] } },
  ],
  ['null takes a pointer', '{"spec":{"ratio":1,"ratio":null}}', { spec: { ratio: null } }],
  [
    'maps',
    '{"metadata":{"labels":{"a":"1","b":"2"},"labels":{"b":"3","__proto__":"4"}}}',
    JSON.parse('{"metadata":{"labels":{"a":"1","b":"3","__proto__":"4"}}}') as Json,
  ],
  [
    'lists, item by item',
    '{"spec":{"ports":[{"name":"a","port":1},{"name":"b"}],"ports":[{"port":2}]}}',
    { spec: { ports: [{ name: 'a', port: 2 }] } },
  ],
  ['an empty list', '{"spec":{"ports":[{"name":"a"}],"ports":[]}}', { spec: { ports: [] } }],
  [
    'wrapped integers',
    '{"spec":{"ports":[{"port":6000000000}]}}',
    { spec: { ports: [{ port: 1705032704 }] } },
  ],
  ['unknown fields', '{"spec":{"x":{"y":1.0}}}', { spec: { x: { y: 1 } } }],
  [
    'digits of quantities',
    '{"spec":{"volumes":[{"emptyDir":{"sizeLimit":-2.50}}]}}',
    { spec: { volumes: [{ emptyDir: { sizeLimit: '-2.50' } }] } },
  ],
]

test('accepted text with duplicates or too large integers', () => {
  for (const [name, text, value] of values) {
    assert.deepEqual(readGoJson(Buffer.from(text), service), { value }, name)
  }
})

test('a value that is rejected as a whole is reported with its end', () => {
  const rows: [body: string, value: string, near: string][] = [
    ['{}', '{}', '#2 byte of ...|{}|...'],
    [' {}\n', '{}', '#3 byte of ...| {}\n|...'],
    ['{"a":{"b":"cdefg"}}', '{"a":{"b":"cdefg"}}', '#10 byte of ...|:"cdefg"}}|...'],
  ]
  for (const [body, value, near] of rows) {
    const stated = refusedWhole(Buffer.from(body), (one) => `no ${one}`)
    assert.equal(
      stated,
      `unmarshalerDecoder: no ${value}, error found in ${near}, bigger context ...|${body}|...`,
    )
  }
})

test('numbers in values without a type', () => {
  const rows: [body: string, near: string][] = [
    ['{"a":[1,{"z":1e400}]}', '#10 byte of ...|{"z":1e400}]}|...'],
    ['{"a":-1e400,"b":2}', '#10 byte of ...|"a":-1e400,"b":2}|...'],
  ]
  for (const [body, near] of rows) {
    const fault = `readNumberAsString: invalid number, error found in ${near}, bigger context ...|${body}|...`
    assert.deepEqual(readGoJson(Buffer.from(body), { is: 'untyped' }), { fault })
  }
  const fine = '{"a":[1e300,-1.5,0],"b":9223372036854775807}'
  const value = { a: [1e300, -1.5, 0], b: 2n ** 63n - 1n }
  assert.deepEqual(readGoJson(Buffer.from(fine), { is: 'untyped' }), { value })
})
