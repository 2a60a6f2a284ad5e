/**
 * The two phases of deleting a definition: it is marked, and removed when no finalizer holds it.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { deleteOptionsFrom } from '#verbs/delete-options.ts'
import { refusalOf, startVerbs } from '#verbs/fixture.suite.ts'
import { deleteDefinition } from './definition-deletion.ts'

const plural = 'customresourcedefinitions'
const finalizer = 'customresourcecleanup.apiextensions.k8s.io'
const verbs = await startVerbs()
after(() => verbs.stop())

const end = (name: string, options: object = {}, server = verbs.server) =>
  deleteDefinition(server, {
    ...verbs.request(verbs.target(plural, name)),
    deleteOptions: deleteOptionsFrom(options, 22),
  })
async function define(word: string, metadata: object = {}): Promise<KubeObject> {
  const schema = { openAPIV3Schema: { type: 'object' } }
  return verbs.create(plural, {
    metadata: { name: `${word}s.example.com`, ...metadata },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: `${word}s`, kind: word },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
}
const terminating = ({ status }: KubeObject) =>
  status.conditions?.find(({ type }: Loose) => type === 'Terminating')

test('the first delete marks the definition, the next changes nothing, and without finalizers it is removed', async () => {
  await define('gear')
  const answer = await end('gears.example.com')
  assert.ok(answer.is === 'object' && answer.status === 200)
  const marked = await verbs.get(plural, 'gears.example.com')
  assert.match(marked.metadata.deletionTimestamp as string, /^\d{4}-.*Z$/)
  assert.deepEqual(marked.metadata.finalizers, [finalizer])
  const { status, reason } = terminating(marked)
  assert.deepEqual([status, reason], ['True', 'InstanceDeletionPending'])
  await end('gears.example.com')
  const again = await verbs.get(plural, 'gears.example.com')
  const { resourceVersion } = again.metadata
  const held = { ...marked.metadata, resourceVersion, deletionGracePeriodSeconds: 0 }
  assert.deepEqual(again, { ...marked, metadata: held })
  await verbs.patch(plural, 'gears.example.com', 'merge', { metadata: { finalizers: null } })
  assert.equal(await refusalOf(verbs.get(plural, 'gears.example.com')), '404 NotFound')
})

const held: [name: string, before: string[], after: string[]][] = [
  ['wheel', ['example.com/x'], ['example.com/x', finalizer]],
  ['axle', [finalizer], [finalizer]],
]
for (const [word, before, expected] of held) {
  test(`[${before}] becomes [${expected}]`, async () => {
    await define(word, { finalizers: before })
    await end(`${word}s.example.com`)
    const { metadata } = await verbs.get(plural, `${word}s.example.com`)
    assert.deepEqual(metadata.finalizers, expected)
  })
}

test('a dry run returns the result and marks nothing', async () => {
  const before = await define('rod')
  const answer = await end('rods.example.com', { dryRun: ['All'] })
  assert.ok(answer.is === 'object')
  const shown = JSON.parse(answer.view.cut.bytes.toString())
  assert.deepEqual(shown.metadata.finalizers, [finalizer])
  assert.deepEqual(await verbs.get(plural, 'rods.example.com'), before)
})

test('preconditions are checked, and a missing definition is 404', async () => {
  const { metadata } = await define('cog')
  const { uid, resourceVersion } = metadata
  const cases: [preconditions: object, refusal: RegExp][] = [
    [{ uid: 'other' }, /UID in precondition: other, UID in object meta: /],
    [
      { resourceVersion: '1' },
      /ResourceVersion in precondition: 1, ResourceVersion in object meta/,
    ],
    [{ uid, resourceVersion: '1' }, /ResourceVersion in precondition/],
  ]
  for (const [preconditions, words] of cases) {
    assert.equal(await refusalOf(end('cogs.example.com', { preconditions })), '409 Conflict')
    await assert.rejects(end('cogs.example.com', { preconditions }), words)
  }
  const preconditions = { uid, resourceVersion }
  assert.equal(await refusalOf(end('cogs.example.com', { preconditions })), 'none')
  assert.equal(
    await refusalOf(end('cogs.example.com', { preconditions: { uid: 'other' } })),
    '409 Conflict',
  )
  assert.equal(await refusalOf(end('missing.example.com')), '404 NotFound')
})

test("a lost race is retried with the winner's state and does not undo it", async () => {
  await define('cam')
  let races = 0
  const { storage } = verbs.server
  const put: typeof storage.put = async (...requested) => {
    if (races++ === 0) {
      const metadata = { annotations: { winner: 'somebody else' } }
      await verbs.patch(plural, 'cams.example.com', 'merge', { metadata })
    }
    return storage.put(...requested)
  }
  const currentRevision = () => storage.currentRevision()
  const racing = { put, currentRevision } as typeof storage
  await end('cams.example.com', {}, { ...verbs.server, storage: racing })
  const { metadata } = await verbs.get(plural, 'cams.example.com')
  assert.equal(races, 2)
  assert.deepEqual(metadata.annotations, { winner: 'somebody else' })
  assert.deepEqual(metadata.finalizers, [finalizer])
})

test('a rejected deletion leaves the definition unchanged', async () => {
  const before = await define('pin')
  const refuse = { mutate: async () => {}, validate: async () => Promise.reject(new Error('no')) }
  const server = { ...verbs.server, admission: refuse as never }
  await assert.rejects(end('pins.example.com', {}, server), /no/)
  assert.deepEqual(await verbs.get(plural, 'pins.example.com'), before)
})
