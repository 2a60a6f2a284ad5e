/**
 * Protobuf bodies by the kind in their envelope: custom kinds have no protobuf form, delete options
 * have one.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { customResource } from '#kinds/custom.ts'
import type { Struct, Type } from '#schema/type.ts'
import { type Served, startServed } from '#http/served.fixture.ts'

const version = {
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object' } },
}
const names = { plural: 'gears', kind: 'Gear', listKind: 'GearList' }
const definition = {
  metadata: { name: 'gears.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names,
    versions: [version],
  },
  status: { acceptedNames: names, storedVersions: ['v1'] },
} as KubeObject

let served: Served
before(async () => {
  served = await startServed()
  const { type } = served.kind('', 'v1', 'pods')
  const resource = customResource(definition, {
    root: '/registry',
    objectMeta: (type as Struct).byName.get('metadata')?.type as Type,
    release: 22,
    feature: () => true,
    convertElsewhere: async (_, objects) => objects,
  })
  served.parts.server.catalog.add(resource)
})
after(() => served.stop())

const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
const part = (number: number, bytes: Buffer) =>
  Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes])
const enveloped = (apiVersion: string, kind: string, raw: readonly number[]): Buffer => {
  const stated = Buffer.concat([part(1, Buffer.from(apiVersion)), part(2, Buffer.from(kind))])
  return Buffer.concat([Buffer.from('k8s\0'), part(1, stated), part(2, Buffer.from(raw))])
}

const gears = '/apis/example.com/v1/namespaces/default/gears'
const configMaps = '/api/v1/namespaces/default/configmaps'
const ofCustomKind = (kind: string) =>
  `${kind} in version "v1" cannot be handled as a Gear: Object 'Kind' is missing in 'object has no kind field '`
const noProtobuf =
  'object *unstructured.Unstructured does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message'
const named = [10, 3, 10, 1, 98]

type Row = [
  request: string,
  apiVersion: string,
  kind: string,
  raw: number[],
  status: number,
  message?: string,
]
const rows: Row[] = [
  [`POST ${gears}`, 'example.com/v1', 'Gear', named, 400, ofCustomKind('Gear')],
  [`POST ${gears}`, 'example.com/v1', 'Gear', [8], 400, ofCustomKind('Gear')],
  [`POST ${gears}`, '', '', named, 400, ofCustomKind('Gear')],
  [`POST ${gears}`, 'v1', 'Pod', named, 400, ofCustomKind('Pod')],
  [`PUT ${gears}/b`, 'example.com/v1', 'Gear', named, 400, ofCustomKind('Gear')],
  [`DELETE ${gears}/b`, 'v1', 'DeleteOptions', [], 404],
  [`DELETE ${gears}`, 'v1', 'DeleteOptions', [], 406, noProtobuf],
  [`DELETE ${gears}`, 'v1', 'DeleteOptions', [8], 406, noProtobuf],
  [`DELETE ${gears}`, 'v1', '', [], 406, noProtobuf],
  [`DELETE ${gears}`, 'meta.k8s.io/v1', 'DeleteOptions', [], 406, noProtobuf],
  [`DELETE ${gears}`, 'example.com/v1', 'ListOptions', [], 406, noProtobuf],
  [`DELETE ${gears}`, 'example.com/v1', 'DeleteOptions', [], 200],
  [`DELETE ${gears}`, 'example.com/v1', 'DeleteOptions', [8], 500, 'unexpected EOF'],
  [`DELETE ${gears}`, '', '', [], 200],
  // An invalid version is treated as absent.
  [`POST ${configMaps}?dryRun=All`, 'a/b/c', 'ConfigMap', named, 201],
  [`POST ${configMaps}?dryRun=All`, 'a/', 'ConfigMap', named, 201],
  [`POST ${configMaps}?dryRun=All`, '/', 'ConfigMap', named, 201],
]
for (const [request, apiVersion, kind, raw, status, message] of rows) {
  test(`${request}: ${apiVersion} ${kind} [${raw}]`, async () => {
    const [method, path] = request.split(' ')
    const body = enveloped(apiVersion, kind, raw)
    const answer = await served.ask(method, path, { headers, body })
    assert.equal(answer.status, status, answer.text)
    if (message !== undefined) assert.equal(answer.json.message, message)
  })
}
