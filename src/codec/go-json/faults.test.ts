import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#api/object-meta.ts'
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'
import type { Struct } from '#schema/type.ts'
import { base64Fault } from './base64-fault.ts'
import { excerpt } from './excerpt.ts'
import { foldNames } from './folded-names.ts'
import { goFieldName, goTypeName } from './go-name.ts'
import { plainFault, unionFault } from './plain-fault.ts'
import { durationFault, timeFault } from './time-fault.ts'
import { textWithNumbers, withWrittenNumbers } from './written-number.ts'

test('invalid times', () => {
  const layout = '"2006-01-02T15:04:05Z07:00"'
  const cases: [text: string, fault: string | undefined][] = [
    ['2021-02-03T04:05:06Z', undefined],
    ['2021-02-03T04:05:06.789+01:00', undefined],
    ['', `parsing time "" as ${layout}: cannot parse "" as "2006"`],
    [
      '2021-02-03 04:05:06Z',
      `parsing time "2021-02-03 04:05:06Z" as ${layout}: cannot parse " 04:05:06Z" as "T"`,
    ],
    ['2021-13-01T00:00:00Z', 'parsing time "2021-13-01T00:00:00Z": month out of range'],
    ['2021-02-30T00:00:00Z', 'parsing time "2021-02-30T00:00:00Z": day out of range'],
    ['2021-02-03T04:05:06Zx', 'parsing time "2021-02-03T04:05:06Zx": extra text: "x"'],
    ['ä"', `parsing time "\\xc3\\xa4\\"" as ${layout}: cannot parse "\\xc3\\xa4\\"" as "2006"`],
  ]
  for (const [text, fault] of cases) assert.equal(timeFault(text, 'time'), fault, text)
})

test('invalid durations', () => {
  const cases: [text: string, fault: string][] = [
    ['', 'time: invalid duration ""'],
    ['x', 'time: invalid duration "x"'],
    ['5', 'time: missing unit in duration "5"'],
    ['1h5', 'time: missing unit in duration "1h5"'],
    ['1x', 'time: unknown unit "x" in duration "1x"'],
  ]
  for (const [text, fault] of cases) assert.equal(durationFault(text), fault, text)
})

test('invalid base64', () => {
  const cases: [text: string, at: number | undefined][] = [
    ['', undefined],
    ['YWJj', undefined],
    ['YW\nJj', undefined],
    ['YQ==', undefined],
    ['YQ', 0],
    ['YW!j', 2],
    ['YQ=x', 2],
    ['YQ=', 3],
    ['YQ==YQ==', 4],
    ['=', 0],
    ['YWJjä', 4],
  ]
  for (const [text, at] of cases) {
    assert.equal(
      base64Fault(text),
      at === undefined ? at : `illegal base64 data at input byte ${at}`,
      text,
    )
  }
})

test('a truncated character becomes one replacement character per byte', () => {
  const bytes = Buffer.from('a日b')
  const cases: [from: number, to: number, text: string][] = [
    [0, 5, 'a日b'],
    [0, 3, 'a\ufffd\ufffd'],
    [2, 5, '\ufffd\ufffdb'],
    [-3, 99, 'a日b'],
  ]
  for (const [from, to, text] of cases) assert.equal(excerpt(bytes, from, to), text)
})

test('the Go names of fields and types', () => {
  const meta = structOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', [])
  const struct = (name: string) => structOf(name, [field('metadata', meta, 1)])
  const cases: [type: string, field: string, name: string][] = [
    ['io.k8s.api.core.v1.Pod', 'metadata', 'ObjectMeta'],
    ['io.k8s.api.core.v1.PodSpec', 'dnsPolicy', 'DNSPolicy'],
    ['io.k8s.api.core.v1.PodSpec', 'serviceAccount', 'DeprecatedServiceAccount'],
    ['io.k8s.api.core.v1.PodSpec', 'serviceAccountName', 'ServiceAccountName'],
    ['io.k8s.api.core.v1.ServiceSpec', 'ipFamilies', 'IPFamilies'],
    ['io.k8s.api.core.v1.ServiceSpec', 'clusterIPs', 'ClusterIPs'],
    ['io.k8s.api.core.v1.SecurityContext', 'seLinuxOptions', 'SELinuxOptions'],
    ['io.k8s.api.core.v1.RBDVolumeSource', 'image', 'RBDImage'],
    ['io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource', 'pdID', 'PdID'],
    ['io.k8s.api.core.v1.Container', 'image', 'Image'],
    ['io.k8s.api.core.v1.Event', 'reportingComponent', 'ReportingController'],
    ['x.v1.JSONSchemaProps', 'x-kubernetes-list-type', 'XListType'],
    ['x.v1.JSONSchemaProps', '$ref', 'Ref'],
    ['x.v1.JSONSchemaProps', 'id', 'ID'],
    ['x.v1.JSONSchemaProps', 'items', 'Items'],
  ]
  for (const [type, name, go] of cases) assert.equal(goFieldName(struct(type), name), go)
  const strings = listOf(scalar('string'))
  assert.equal(goTypeName(strings), '[]string')
  assert.equal(goTypeName({ ...strings, wrapped: true }, 'v1beta1'), 'v1beta1.ExtraValue')
  assert.equal(goTypeName(mapOf(scalar('quantity'))), 'map[string]resource.Quantity')
})

const schema: Struct = structOf('x.v1.JSONSchemaProps', [
  field('type', scalar('string'), 1),
  field('maxLength', scalar('int64'), 2, 'p'),
  field('properties', () => mapOf(schema), 3),
])
const orBool = structOf(
  'x.v1.JSONSchemaPropsOrBool',
  [field('allows', scalar('bool'), 1), field('schema', schema, 2, 'p')],
  { union: true },
)

test('schemas inside schemas have another decoder', () => {
  const cases: [text: string, fault: string | undefined][] = [
    ['true', undefined],
    ['{"type":"string"}', undefined],
    ['"x"', 'boolean or JSON schema expected'],
    [
      '{"type":1}',
      'json: cannot unmarshal number into Go struct field JSONSchemaProps.type of type string',
    ],
  ]
  for (const [text, fault] of cases) assert.equal(unionFault(orBool, text), fault, text)
  assert.equal(plainFault(schema, null), undefined)
})

test('names match in any case, exact ones first', () => {
  const both = structOf('x.v1.Both', [field('ab', schema, 1), field('aB', scalar('string'), 2)])
  const cases: [given: Json, folded: Json][] = [
    [null, null],
    [{ AB: { TYPE: 'x' } }, { ab: { type: 'x' } }],
    [{ aB: 'x', other: 1 }, { aB: 'x' }],
    [{ AB: 1, ab: 2 }, { ab: 2 }],
    [[1], [1]],
  ]
  for (const [given, folded] of cases) assert.deepEqual(foldNames(both, given), folded)
  assert.deepEqual(foldNames(listOf(both), [{ AB: 1 }, 'x']), [{ ab: 1 }, 'x'])
})

test('numbers keep their digits through a patch', () => {
  const patch = Buffer.from('{"b":{"x":[1.0,2,1e3,12345678901234567890]},"a":"<"}')
  const text = textWithNumbers(withWrittenNumbers(patch))
  assert.equal(text, '{"a":"\\u003c","b":{"x":[1.0,2,1e3,12345678901234567890]}}')
})

test('maps have the names of their Go types', () => {
  const device = structOf('io.k8s.api.resource.v1.Device', [
    field('attributes', mapOf(scalar('string')), 1),
    field('capacity', mapOf(scalar('quantity')), 2),
    field('labels', mapOf(scalar('string')), 3),
  ])
  const claim = structOf('io.k8s.api.core.v1.Claim', [
    field('limits', mapOf(scalar('quantity')), 1),
  ])
  const typeOf = (type: Struct, name: string) =>
    plainFault(type, { [name]: 1 }, undefined, { namesEmbedded: true })?.split(' of type ')[1]
  assert.equal(typeOf(device, 'attributes'), 'map[v1.QualifiedName]string')
  assert.equal(typeOf(device, 'capacity'), 'map[v1.QualifiedName]resource.Quantity')
  assert.equal(typeOf(device, 'labels'), 'map[string]string')
  assert.equal(typeOf(claim, 'limits'), 'v1.ResourceList')
})
