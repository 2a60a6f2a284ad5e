/** The recorded response is the requested one, always as JSON. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Served, startServed } from '#http/served.fixture.ts'
import { responseText } from './response-object.ts'

let served: Served
type ResponseText = Promise<string | undefined>
let report: (text: ResponseText) => void = () => {}
before(async () => {
  const end = (exchange: Parameters<typeof responseText>[0]) => {
    report(responseText(exchange, served.parts))
  }
  served = await startServed({ observers: [{ end }] })
  const body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}'
  await served.ask('POST', one.slice(0, -2), { headers: { 'content-type': json }, body })
})
after(() => served.stop())

const all = '/api/v1/namespaces/default/configmaps'
const one = `${all}/a`
const json = 'application/json'
const as = (kind: string, form = json) => `${form};as=${kind};v=v1;g=meta.k8s.io`

const cases: [url: string, accept: string, kind: string, isAlsoSent: boolean][] = [
  [one, json, 'ConfigMap', true],
  [all, json, 'ConfigMapList', true],
  [one, 'application/yaml', 'ConfigMap', false],
  [all, 'application/vnd.kubernetes.protobuf', 'ConfigMapList', false],
  [one, as('Table'), 'Table', true],
  [all, as('Table'), 'Table', true],
  [one, as('PartialObjectMetadata'), 'PartialObjectMetadata', true],
  [all, as('PartialObjectMetadataList'), 'PartialObjectMetadataList', true],
  [
    all,
    as('PartialObjectMetadataList', 'application/vnd.kubernetes.protobuf'),
    'PartialObjectMetadataList',
    false,
  ],
  [`${all}/missing`, json, 'Status', true],
]
for (const [url, accept, kind, isAlsoSent] of cases) {
  test(`${url} as ${accept}`, async () => {
    const reported = new Promise<Awaited<ResponseText>>((resolve) => (report = resolve))
    const answered = await served.ask('GET', url, { headers: { accept } })
    const text = (await reported) ?? ''
    assert.equal(JSON.parse(text).kind, kind)
    if (isAlsoSent) assert.deepEqual(JSON.parse(text), answered.json)
  })
}
