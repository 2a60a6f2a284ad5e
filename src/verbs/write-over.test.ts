/**
 * The order in which the errors and preconditions of a write are reported, and which writer wins a
 * race.
 */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { type Fixture, refusalOf, startVerbs } from './fixture.suite.ts'
import { patch } from './patch.ts'
import { update } from './update.ts'

let verbs: Fixture
before(async () => {
  verbs = await startVerbs()
  await verbs.create('configmaps', { metadata: { name: 'a' } })
  const spec = { clusterIP: 'None', clusterIPs: ['None'], ports: [{ port: 80 }] }
  await verbs.create('services', { metadata: { name: 'a' }, spec })
})
after(() => verbs.stop())

const stale = { resourceVersion: '1' }
const wrong = { labels: { '-': '-' } }

const cases: [plural: string, metadata: object, put: string, patch: string][] = [
  ['configmaps', stale, '409 Conflict', '409 Conflict'],
  ['configmaps', { ...stale, ...wrong }, '409 Conflict', '409 Conflict'],
  ['configmaps', { uid: 'other' }, '409 Conflict', '422 Invalid'],
  ['services', stale, '409 Conflict', '409 Conflict'],
  ['services', { ...stale, ...wrong }, '422 Invalid', '422 Invalid'],
  ['services', { ...stale, uid: 'other' }, '422 Invalid', '422 Invalid'],
  ['services', { uid: 'other' }, '422 Invalid', '422 Invalid'],
]
for (const [plural, metadata, put, patch] of cases) {
  test(`${plural}: ${JSON.stringify(metadata)}`, async () => {
    const live = await verbs.get(plural, 'a')
    const { resourceVersion: _, ...kept } = live.metadata
    const next = { ...live, metadata: { ...kept, ...metadata } } as KubeObject
    assert.equal(await refusalOf(verbs.update(plural, next)), put)
    assert.equal(await refusalOf(verbs.patch(plural, 'a', 'merge', { metadata })), patch)
  })
}

const versions: [form: (version: string) => string, expected: string][] = [
  [(version) => version, 'none'],
  [(version) => `00${version}`, 'none'],
  [() => '00', 'none'],
  [() => '01', '409 Conflict'],
  [(version) => `+${version}`, '400 BadRequest'],
  [(version) => ` ${version}`, '400 BadRequest'],
  [() => '-1', '400 BadRequest'],
  [() => '9007199254740993', '409 Conflict'],
  [() => '18446744073709551615', '409 Conflict'],
  [() => '18446744073709551616', '400 BadRequest'],
  [() => '9'.repeat(1_000_000), '400 BadRequest'],
]
for (const [form, expected] of versions) {
  test(`a write for version ${form('N').slice(0, 30)}: ${expected}`, async () => {
    const put = await verbs.get('configmaps', 'a')
    put.metadata.resourceVersion = form(put.metadata.resourceVersion as string)
    assert.equal(await refusalOf(verbs.update('configmaps', put)), expected)
    const { metadata } = await verbs.get('configmaps', 'a')
    const resourceVersion = form(metadata.resourceVersion as string)
    const patch = verbs.patch('configmaps', 'a', 'merge', { metadata: { resourceVersion } })
    assert.equal(await refusalOf(patch), expected)
  })
}

const writers = ['a', 'b', 'c']
const endpoints = (writer: string) => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name: 'new', namespace: 'default', labels: { [writer]: writer } },
})
const apply = (writer: string) =>
  patch(verbs.server, {
    ...verbs.request(verbs.target('endpoints', 'new'), undefined, { fieldManager: writer }),
    patchType: 'apply',
    patchBytes: Buffer.from(JSON.stringify(endpoints(writer))),
  })
const put = (writer: string) =>
  update(verbs.server, verbs.request(verbs.target('endpoints', 'new'), endpoints(writer)))

for (const [write, left] of [
  [apply, 'a b c'],
  [put, 'c'],
] as const) {
  test(`several clients that create one object at once by ${write.name} get one object`, async () => {
    const answers = await Promise.all(writers.map(write))
    const codes = answers.map((answer) => answer.is === 'object' && answer.status)
    assert.deepEqual(codes, [201, 200, 200])
    const { labels } = (await verbs.get('endpoints', 'new')).metadata
    assert.equal(Object.keys(labels ?? {}).join(' '), left)
    await verbs.remove('endpoints', 'new')
  })
}
