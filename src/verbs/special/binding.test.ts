/** The state of a bound pod, and the bindings that are rejected. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { refusalOf, startVerbs } from '#verbs/fixture.suite.ts'
import { bindPod } from './binding.ts'

const verbs = await startVerbs()
after(() => verbs.stop())
const pod = (name: string, more: object = {}) => ({
  metadata: { name, annotations: { kept: 'yes' } },
  spec: { containers: [{ name: 'c', image: 'i' }], ...more },
})
const bind = (body: object, name = '') =>
  bindPod(verbs.server, verbs.request(verbs.target('pods', name, 'binding'), body))

test("a bound pod has its node, the binding's annotations, and the condition PodScheduled", async () => {
  await verbs.create('pods', pod('free'))
  const metadata = { name: 'free', annotations: { by: 'scheduler' } }
  const answer = await bind({ metadata, target: { kind: 'Node', name: 'n1' } }, 'free')
  assert.deepEqual([answer.is, answer.is === 'value' && answer.status], ['value', 201])
  const bound = await verbs.get('pods', 'free')
  assert.equal(bound.spec.nodeName, 'n1')
  assert.deepEqual(bound.metadata.annotations, { kept: 'yes', by: 'scheduler' })
  const [condition] = bound.status.conditions
  assert.deepEqual([condition.type, condition.status], ['PodScheduled', 'True'])
  assert.match(condition.lastTransitionTime, /^\d{4}-.*Z$/)
})

const before = (status: string) => ({
  type: 'PodScheduled',
  status,
  reason: 'Unschedulable',
  message: 'no node has room',
  lastProbeTime: '2020-01-01T00:00:00Z',
  lastTransitionTime: '2020-01-01T00:00:00Z',
})
const reported: [name: string, status: string, sameTime: boolean][] = [
  ['refused-before', 'False', false],
  ['told-already', 'True', true],
]
for (const [name, status, sameTime] of reported) {
  test(`the earlier scheduling condition is replaced: ${name}`, async () => {
    const free = await verbs.create('pods', pod(name))
    await verbs.update('pods', { ...free, status: { conditions: [before(status)] } }, 'status')
    await bind({ metadata: { name }, target: { kind: 'Node', name: 'n1' } }, name)
    const [{ lastTransitionTime, ...rest }] = (await verbs.get('pods', name)).status.conditions
    assert.deepEqual(rest, { type: 'PodScheduled', status: 'True', lastProbeTime: null })
    assert.equal(lastTransitionTime === before(status).lastTransitionTime, sameTime)
  })
}

test('a pod is bound despite concurrent writes', async () => {
  await verbs.create('pods', pod('busy'))
  const { storage } = verbs.server
  let races = 0
  const put: typeof storage.put = async (...requested) => {
    if (races++ < 3)
      await verbs.patch('pods', 'busy', 'merge', { metadata: { labels: { race: `${races}` } } })
    return storage.put(...requested)
  }
  const racing = { put, currentRevision: () => storage.currentRevision() } as typeof storage
  const body = { metadata: { name: 'busy' }, target: { kind: 'Node', name: 'n1' } }
  const request = verbs.request(verbs.target('pods', 'busy', 'binding'), body)
  await bindPod({ ...verbs.server, storage: racing }, request)
  const { spec, metadata } = await verbs.get('pods', 'busy')
  assert.deepEqual([races, spec.nodeName, metadata.labels], [4, 'n1', { race: '3' }])
})

const held = { ...pod('leaving'), metadata: { name: 'leaving', finalizers: ['example.com/x'] } }
await verbs.create('pods', pod('assigned', { nodeName: 'n0' }))
await verbs.create('pods', held)
await verbs.remove('pods', 'leaving', { gracePeriodSeconds: 0 })
await verbs.create('pods', pod('waiting'))

const target = { kind: 'Node', name: 'n1' }
const refusals: [what: string, body: object, at: string, expected: string][] = [
  ['a pod that has a node', { metadata: { name: 'assigned' }, target }, 'assigned', '409 Conflict'],
  ['a pod that leaves', { metadata: { name: 'leaving' }, target }, 'leaving', '409 Conflict'],
  [
    'a pod that does not exist',
    { metadata: { name: 'missing' }, target },
    'missing',
    '404 NotFound',
  ],
  [
    'another name than the path',
    { metadata: { name: 'other' }, target },
    'waiting',
    '400 BadRequest',
  ],
  ['no name at all', { target }, '', '400 BadRequest'],
  ['a name that cannot be in a path', { metadata: { name: 'a/b' }, target }, '', '400 BadRequest'],
  ['no name and no target', { target: {} }, '', '422 Invalid'],
  ['no target', { metadata: { name: 'waiting' }, target: {} }, 'waiting', '422 Invalid'],
  [
    'a target that is not a node',
    { metadata: { name: 'waiting' }, target: { kind: 'Pod', name: 'p' } },
    'waiting',
    '422 Invalid',
  ],
]
for (const [what, body, at, expected] of refusals) {
  test(`a binding of ${what} is refused`, async () => {
    assert.equal(await refusalOf(bind(body, at)), expected)
    assert.equal((await verbs.get('pods', 'waiting')).spec.nodeName, undefined)
  })
}

const gate = { schedulingGates: [{ name: 'example.com/quota' }] }
const rows: [what: string, release: number, spec: object, metadata: object, expected: string][] = [
  ['another uid', 22, {}, { uid: 'u' }, 'bound'],
  ['another uid', 23, {}, { uid: 'u' }, '409 Conflict'],
  ['another version', 23, {}, { resourceVersion: '1' }, '409 Conflict'],
  // The field is dropped while its feature gate is off.
  ['a scheduling gate', 26, gate, {}, 'bound'],
  ['a scheduling gate', 27, gate, {}, '409 Conflict'],
  ['labels', 34, {}, { labels: { zone: 'a' } }, 'bound'],
  ['labels', 35, {}, { labels: { zone: 'a' } }, 'bound zone=a'],
]
for (const [what, release, spec, metadata, expected] of rows) {
  test(`a binding with ${what} as 1.${release}: ${expected}`, async () => {
    const newer = await startVerbs(undefined, undefined, release)
    after(() => newer.stop())
    await newer.create('pods', pod('p', spec))
    const body = { metadata: { name: 'p', ...metadata }, target }
    const request = newer.request(newer.target('pods', 'p', 'binding'), body)
    const outcome = bindPod(newer.server, request).then(async () => {
      const { labels } = (await newer.get('pods', 'p')).metadata
      return labels ? `bound zone=${labels.zone}` : 'bound'
    })
    assert.equal(expected.startsWith('409') ? await refusalOf(outcome) : await outcome, expected)
  })
}

test('since 1.35 a bound pod is no longer nominated for a node', async () => {
  for (const release of [33, 35]) {
    const newer = await startVerbs(undefined, undefined, release)
    after(() => newer.stop())
    const free = await newer.create('pods', pod('p'))
    await newer.update('pods', { ...free, status: { nominatedNodeName: 'n0' } }, 'status')
    const body = { metadata: { name: 'p' }, target }
    await bindPod(newer.server, newer.request(newer.target('pods', 'p', 'binding'), body))
    const { status } = await newer.get('pods', 'p')
    assert.equal(status.nominatedNodeName, release < 35 ? 'n0' : undefined)
  }
})
