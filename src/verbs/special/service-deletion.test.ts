import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { deleteOptionsFrom } from '#verbs/delete-options.ts'
import { refusalOf, startVerbs } from '#verbs/fixture.suite.ts'
import { deleteService } from './service-deletion.ts'

const cases: [what: string, service: Loose, endpoints: boolean, dryRun: boolean, left: boolean][] =
  [
    ['endpoints are deleted with their service', {}, true, false, false],
    ['a service without endpoints is deleted alone', {}, false, false, false],
    [
      'they are deleted though a finalizer keeps the service',
      { finalizers: ['example.com/hold'] },
      true,
      false,
      false,
    ],
    ['a dry run deletes nothing', {}, true, true, true],
  ]
for (const [what, metadata, endpoints, dryRun, left] of cases) {
  test(what, async () => {
    const verbs = await startVerbs()
    const { server } = verbs
    const name = 'web'
    await verbs.create('services', {
      metadata: { name, ...metadata },
      spec: { ports: [{ port: 1 }] },
    })
    await verbs.create('endpoints', { metadata: { name: 'other' } })
    if (endpoints) await verbs.create('endpoints', { metadata: { name } })
    const options = dryRun ? { dryRun: ['All'] } : {}
    const answer = await deleteService(server, {
      ...verbs.request(verbs.target('services', name), undefined, { dryRun }),
      deleteOptions: deleteOptionsFrom(options, 22),
    })
    assert.equal(answer.is === 'value' && answer.value.status, 'Success')
    assert.equal((await verbs.get('endpoints', 'other')).metadata.name, 'other')
    if (left) assert.equal((await verbs.get('endpoints', name)).metadata.name, name)
    else assert.match(await refusalOf(verbs.get('endpoints', name)), /^404/)
    await verbs.stop()
  })
}
