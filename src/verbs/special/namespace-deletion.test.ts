/**
 * The two phases of deleting a namespace, its preconditions, and the effect of options on its
 * finalizers.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { deleteOptionsFrom } from '#verbs/delete-options.ts'
import { refusalOf, startVerbs } from '#verbs/fixture.suite.ts'
import { overlaid } from '#watchcache/picture.suite.ts'
import { deleteNamespace } from './namespace-deletion.ts'

const verbs = await startVerbs()
after(() => verbs.stop())

const end = (name: string, options: object = {}) =>
  deleteNamespace(verbs.server, {
    ...verbs.request(verbs.target('namespaces', name)),
    deleteOptions: deleteOptionsFrom(options, 22),
  })
const namespace = (name: string, metadata: object = {}) =>
  verbs.create('namespaces', {
    metadata: { name, ...metadata },
    spec: { finalizers: ['kubernetes'] },
  })

test('the first delete marks, the next returns the same, and without finalizers it removes', async () => {
  await namespace('going')
  await end('going')
  const marked = await verbs.get('namespaces', 'going')
  assert.equal(marked.status.phase, 'Terminating')
  assert.match(marked.metadata.deletionTimestamp as string, /^\d{4}-.*Z$/)
  await end('going')
  const again = await verbs.get('namespaces', 'going')
  assert.deepEqual(again.metadata, marked.metadata)
  await verbs.update('namespaces', { ...again, spec: {} } as KubeObject, 'finalize')
  await end('going').catch(() => undefined)
  assert.equal(await refusalOf(verbs.get('namespaces', 'going')), '404 NotFound')
})

test('a further delete does not affect a namespace that was recreated meanwhile', async () => {
  const finalizers = ['example.com/x']
  await namespace('renewed', { finalizers })
  await end('renewed')
  const marked = await verbs.get('namespaces', 'renewed')
  await verbs.update('namespaces', { ...marked, spec: {} } as KubeObject, 'finalize')
  let looks = 0
  const storage = overlaid(verbs.storage, {
    async currentRevision() {
      if (++looks === 2) {
        await verbs.patch('namespaces', 'renewed', 'merge', { metadata: { finalizers: null } })
        await namespace('renewed')
      }
      return verbs.storage.currentRevision()
    },
  })
  const request = verbs.request(verbs.target('namespaces', 'renewed'))
  const again = deleteNamespace(
    { ...verbs.server, storage },
    { ...request, deleteOptions: deleteOptionsFrom({}, 22) },
  )
  assert.equal(await refusalOf(again), '409 Conflict')
  const { metadata } = await verbs.get('namespaces', 'renewed')
  assert.notEqual(metadata.uid, marked.metadata.uid)
  assert.equal(metadata.deletionTimestamp, undefined)
})

test('before 1.17 a further delete is rejected until the namespace is empty', async () => {
  await namespace('full')
  await end('full')
  const request = verbs.request(verbs.target('namespaces', 'full'))
  const again = (release: number) =>
    deleteNamespace(
      { ...verbs.server, release },
      { ...request, deleteOptions: deleteOptionsFrom({}, 22) },
    )
  assert.equal(await refusalOf(again(16)), '409 Conflict')
  assert.equal(await refusalOf(again(17)), 'none')
})

test('a dry run marks nothing', async () => {
  await namespace('tried')
  await end('tried', { dryRun: ['All'] })
  assert.equal((await verbs.get('namespaces', 'tried')).metadata.deletionTimestamp, undefined)
})

const finalizers: [options: object, before: string[], after: string[] | undefined][] = [
  [{}, [], undefined],
  [{}, ['example.com/x'], ['example.com/x']],
  [{ propagationPolicy: 'Orphan' }, ['example.com/x'], ['example.com/x', 'orphan']],
  [{ propagationPolicy: 'Foreground' }, [], ['foregroundDeletion']],
  [{ propagationPolicy: 'Background' }, ['orphan'], undefined],
  [{ propagationPolicy: 'Background' }, ['foregroundDeletion'], undefined],
  [{ propagationPolicy: 'Foreground' }, ['orphan'], ['foregroundDeletion']],
  [{ orphanDependents: true }, [], ['orphan']],
  [{ orphanDependents: false }, ['orphan'], ['foregroundDeletion']],
]
for (const [i, [options, before, expected]] of finalizers.entries()) {
  test(`${JSON.stringify(options)} makes [${before}] [${expected ?? ''}]`, async () => {
    await namespace(`f${i}`, { finalizers: before })
    await end(`f${i}`, options)
    const { metadata } = await verbs.get('namespaces', `f${i}`)
    assert.deepEqual(metadata.finalizers, expected)
  })
}

test('preconditions are checked, and a missing namespace is 404', async () => {
  const { metadata } = await namespace('kept')
  const wrong = [{ uid: 'other' }, { resourceVersion: '1' }]
  for (const preconditions of wrong) {
    assert.equal(await refusalOf(end('kept', { preconditions })), '409 Conflict')
  }
  const { uid, resourceVersion } = metadata
  assert.equal(await refusalOf(end('kept', { preconditions: { uid, resourceVersion } })), 'none')
  assert.equal(await refusalOf(end('missing')), '404 NotFound')
})
