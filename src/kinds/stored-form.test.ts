import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { encodeObject } from '#codec/protobuf.ts'
import { builtInResources } from './built-in.ts'
import { Catalog } from './catalog.ts'
import { loadFacts } from './facts.ts'
import { storedParser } from './stored-form.ts'

const folder = join(import.meta.dirname, '..', '..', 'facts')
const facts = loadFacts((name) => readFileSync(join(folder, name), 'utf8'))
const catalog = new Catalog([])
const options = { release: 22, feature: () => true, root: '/registry', serves: () => true }
for (const resource of builtInResources(facts, options)) catalog.add(resource)
const parse = storedParser(catalog)

const map = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', creationTimestamp: null },
  data: { __proto__: 'x', k: 'v' },
}

test('JSON and protobuf decode to the same object', () => {
  const kind = catalog.find('', 'v1', 'configmaps')
  assert.ok(kind)
  const json = parse(Buffer.from(JSON.stringify(map)))
  const protobuf = parse(encodeObject(kind.type, map as never))
  assert.deepEqual(protobuf.metadata.name, json.metadata.name)
  assert.deepEqual(protobuf.data, json.data)
})

test('a version that is no longer served is decoded', () => {
  const old = catalog.resource('apps', 'deployments')?.kindOf('extensions/v1beta1')
  assert.ok(old)
  const object = {
    kind: 'Deployment',
    apiVersion: 'extensions/v1beta1',
    metadata: { name: 'd' },
    spec: { replicas: 3, rollbackTo: { revision: 2 } },
  }
  const read = parse(encodeObject(old.type, object as never))
  assert.deepEqual([read.apiVersion, read.spec.replicas], ['extensions/v1beta1', 3])
  assert.equal(Number(read.spec.rollbackTo.revision), 2)
})

const job = {
  kind: 'Job',
  apiVersion: 'batch/v1',
  metadata: { name: 'j', uid: 'u' },
  spec: { template: { spec: { containers: [{ name: 'c', image: 'i:1' }] } }, unheardOf: true },
}
const forms: [name: string, bytes: () => Buffer, filledIn: boolean][] = [
  ['our own JSON, which has it all', () => Buffer.from(JSON.stringify(job)), false],
  [
    'JSON that no server wrote',
    () => Buffer.from(JSON.stringify({ ...job, metadata: { name: 'j' } })),
    true,
  ],
  ["another server's JSON", () => Buffer.from(`${JSON.stringify(job)}\n`), true],
  [
    "another server's protobuf",
    () => encodeObject(catalog.find('batch', 'v1', 'jobs')?.type as never, job as never),
    true,
  ],
]
for (const [name, bytes, filledIn] of forms) {
  test(`${name} is read ${filledIn ? 'by its type, with its defaults' : 'as it is'}`, () => {
    const { spec } = parse(bytes())
    const read = [spec.completionMode, spec.template.spec.dnsPolicy, spec.unheardOf]
    const wanted = filledIn
      ? ['NonIndexed', 'ClusterFirst', undefined]
      : [undefined, undefined, true]
    assert.deepEqual(read, wanted)
  })
}

test('the last type of a removed version is known', () => {
  const requests = catalog.resource('certificates.k8s.io', 'certificatesigningrequests')
  const beta = requests?.kindOf('certificates.k8s.io/v1beta1')
  const condition = { type: 'Approved' }
  assert.ok(beta)
  const { object } = beta.conform({ metadata: {}, status: { conditions: [condition] } })
  const unknown = { lastUpdateTime: null, lastTransitionTime: null, status: '' }
  assert.deepEqual(object.status, { conditions: [{ ...condition, ...unknown }] })
})

test('an unknown version is reported', () => {
  const kind = catalog.find('', 'v1', 'configmaps')
  assert.ok(kind)
  const other = { ...map, kind: 'Thing', apiVersion: 'example.com/v1' }
  const bytes = encodeObject(kind.type, other as never)
  assert.throws(() => parse(bytes), /nothing is known of example.com\/v1 Thing/)
})
