/** Reads and writes of a Scale: its fields, its changes to the object, and rejections. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import type { Answer } from '#verbs/answer.ts'
import { refusalOf, startVerbs } from '#verbs/fixture.suite.ts'
import { recordsOwners, replicasOf } from './replicas.ts'
import { getScale, patchScale, updateScale } from './scale.ts'

const verbs = await startVerbs()
after(() => verbs.stop())

const labels = { app: 'a' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const made = await verbs.create('deployments', {
  metadata: { name: 'd' },
  spec: { replicas: 3, selector: { matchLabels: labels }, template },
})
const at = (name = 'd') => verbs.target('deployments', name, 'scale')
const valueOf = (answer: Answer) => (answer.is === 'value' ? answer.value : {}) as Loose
const shown = async () => valueOf(await getScale(verbs.server, at()))
const put = (scale: object, name = 'd') => updateScale(verbs.server, verbs.request(at(name), scale))
const patch = (change: unknown, patchType: 'merge' | 'json' = 'merge') =>
  patchScale(verbs.server, {
    ...verbs.request(at()),
    patchType,
    patchBytes: Buffer.from(JSON.stringify(change)),
  })

test('a Scale has replicas, the selector as text, and the metadata that identifies the object', async () => {
  const scale = await shown()
  assert.deepEqual([scale.kind, scale.apiVersion], ['Scale', 'autoscaling/v1'])
  assert.deepEqual(scale.spec, { replicas: 3 })
  assert.deepEqual(scale.status, { replicas: 0, selector: 'app=a' })
  assert.equal(scale.metadata.uid, made.metadata.uid)
  assert.equal(scale.metadata.managedFields, undefined)
})

test('a Scale is read at any version, and at one that the store has reached', async () => {
  for (const version of ['0', '1', made.metadata.resourceVersion]) {
    assert.deepEqual(valueOf(await getScale(verbs.server, at(), version)).spec, { replicas: 3 })
  }
})

const writes: [what: string, write: () => Promise<Answer>, replicas: number][] = [
  [
    'an update',
    async () => put({ metadata: { name: 'd', namespace: 'default' }, spec: { replicas: 5 } }),
    5,
  ],
  ['a merge patch', () => patch({ spec: { replicas: 6 } }), 6],
  ['a JSON patch', () => patch([{ op: 'replace', path: '/spec/replicas', value: 7 }], 'json'), 7],
  [
    'an update of what was shown',
    async () => put({ ...(await shown()), spec: { replicas: 8 } }),
    8,
  ],
  ['an empty update', async () => put({ metadata: { name: 'd', namespace: 'default' } }), 0],
]
for (const [what, write, replicas] of writes) {
  test(`${what} makes ${replicas} replicas, and nothing else`, async () => {
    const answered = valueOf(await write())
    assert.equal(answered.spec.replicas ?? 0, replicas)
    const { spec } = await verbs.get('deployments', 'd')
    assert.equal(spec.replicas, replicas)
    assert.deepEqual(spec.template.metadata.labels, labels)
  })
}

const refusals: [what: string, write: () => Promise<unknown>, expected: string][] = [
  [
    'fewer than none',
    async () => put({ metadata: { name: 'd' }, spec: { replicas: -1 } }),
    '422 Invalid',
  ],
  ['another name', async () => put({ metadata: { name: 'e' }, spec: {} }), '400 BadRequest'],
  ['no name', async () => put({ spec: { replicas: 1 } }), '400 BadRequest'],
  ['another uid', async () => put({ metadata: { name: 'd', uid: 'x' }, spec: {} }), '409 Conflict'],
  [
    'an old version',
    async () =>
      put({ metadata: { name: 'd', namespace: 'default', resourceVersion: '1' }, spec: {} }),
    '409 Conflict',
  ],
  [
    'another kind',
    async () => put({ kind: 'Deployment', apiVersion: 'apps/v1' }),
    '400 BadRequest',
  ],
  ['no such object', async () => put({ metadata: { name: 'n' }, spec: {} }, 'n'), '404 NotFound'],
  ['nothing to read', () => getScale(verbs.server, at('n')), '404 NotFound'],
  ['a version to come', () => getScale(verbs.server, at(), '999999999'), '504 Timeout'],
  ['an invalid version', () => getScale(verbs.server, at(), 'abc'), '500 '],
  ['replicas that are not a number', () => patch({ spec: { replicas: 'many' } }), '422 Invalid'],
]
for (const [what, write, expected] of refusals) {
  test(`${what}: ${expected}`, async () => assert.equal(await refusalOf(write()), expected))
}

const elsewhere = replicasOf({
  scale: {
    specReplicas: ['spec', 'size', 'want'],
    statusReplicas: ['status', 'have'],
    labelSelector: ['status', 'by'],
  },
} as never)
const numbers: [object: Loose, wanted: number | undefined, present: number, selector: string][] = [
  [{ spec: { size: { want: 2 } }, status: { have: 1, by: 'a=b' } }, 2, 1, 'a=b'],
  [{ spec: {} }, undefined, 0, ''],
  [{ spec: { size: { want: 0 } }, status: {} }, 0, 0, ''],
  // A Scale has 32-bit numbers.
  [{ spec: { size: { want: 2 ** 32 + 1 } } }, 1, 0, ''],
]
for (const [object, wanted, present, selector] of numbers) {
  test(`custom replica paths: ${JSON.stringify(object)}`, () => {
    const found = object as never
    assert.equal(elsewhere.wanted(found), wanted)
    assert.equal(elsewhere.present(found), present)
    assert.equal(elsewhere.selector(found), selector)
    const before = structuredClone(object)
    const written = { ...object }
    elsewhere.set(written as never, 9)
    assert.equal(written.spec.size.want, 9)
    assert.deepEqual(object, before)
  })
}

const mistyped: [object: Loose, read: 'wanted' | 'selector'][] = [
  [{ spec: { size: { want: 'two' } } }, 'wanted'],
  [{ spec: { size: { want: 1.5 } } }, 'wanted'],
  [{ spec: { size: 'large' } }, 'wanted'],
  [{ status: { by: 3 } }, 'selector'],
]
for (const [object, read] of mistyped) {
  test(`invalid values at custom replica paths: ${JSON.stringify(object)}`, async () => {
    assert.equal(await refusalOf((async () => elsewhere[read](object as never))()), '500 ')
  })
}

test('a missing object is named by the resource that the release reports', async () => {
  const write = (release: number) =>
    updateScale(
      { ...verbs.server, release },
      verbs.request(at('nope'), { metadata: { name: 'nope' } }),
    )
  await assert.rejects(write(22), { message: 'deployments.apps "nope" not found' })
  await assert.rejects(write(18), { message: 'deployments/scale.apps "nope" not found' })
})

test('reading the Scale of a missing object names the object since 1.33', async () => {
  const read = (release: number) => getScale({ ...verbs.server, release }, at('nope'))
  await assert.rejects(read(33), { message: 'deployments.apps "nope" not found' })
  await assert.rejects(read(32), { message: 'deployments/scale.apps "nope" not found' })
})

test('a Scale of another group is decoded and then rejected', async () => {
  const scale = { apiVersion: 'extensions/v1beta1', kind: 'Scale', metadata: { name: 'd' } }
  await assert.rejects(put(scale), {
    message:
      'the API version in the data (extensions/v1beta1) does not match the expected API version (autoscaling/v1)',
  })
})

test('the uid of a Scale is a precondition since 1.19', async () => {
  const scale = {
    metadata: { name: 'd', namespace: 'default', uid: 'other' },
    spec: { replicas: 4 },
  }
  const write = (release: number) =>
    updateScale({ ...verbs.server, release }, verbs.request(at(), scale))
  assert.equal(await refusalOf(write(19)), '409 Conflict')
  assert.equal(await refusalOf(write(18)), 'none')
})

test('a Scale without a namespace gets the one of the request since 1.24', async () => {
  const scale = { metadata: { name: 'd' }, spec: { replicas: 4 } }
  const write = (release: number) =>
    updateScale({ ...verbs.server, release }, verbs.request(at(), scale))
  assert.equal(await refusalOf(write(23)), '422 Invalid')
  assert.equal(await refusalOf(write(24)), 'none')
})

test('in releases without managedFields in a Scale, an apply conflicts with all managers', async () => {
  await verbs.create('deployments', {
    metadata: { name: 'owned' },
    spec: { replicas: 2, selector: { matchLabels: labels }, template },
  })
  const configuration =
    '{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"owned"},"spec":{"replicas":7}}'
  const apply = (release: number) => {
    const request = verbs.request(at('owned'), undefined, { fieldManager: 'hpa' })
    const patchBytes = Buffer.from(configuration)
    return patchScale({ ...verbs.server, release }, { ...request, patchType: 'apply', patchBytes })
  }
  await assert.rejects(apply(21), { message: /conflict with "before-first-apply" using/ })
  await assert.rejects(apply(22), { message: /conflict with "(?!before-first-apply)/ })
})

for (const [release, ofCustom] of [
  [26, false],
  [27, true],
] as const)
  test(`in 1.${release} a Scale ${ofCustom ? 'records' : 'leaves out'} owners of custom replicas`, () => {
    assert.equal(recordsOwners({ ownRules: true }, release), ofCustom)
    assert.equal(recordsOwners({ ownRules: false }, release), true)
  })
