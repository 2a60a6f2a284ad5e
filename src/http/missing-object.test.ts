/** PUT of a missing object: the server rejects it or creates the object. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Served, startServed } from './served.fixture.ts'

let served: Served
before(async () => {
  served = await startServed()
})
after(() => served.stop())

test('kinds that an update creates, and the resourceVersions that it may name', async () => {
  const ports = { spec: { ports: [{ port: 80 }] } }
  const cases: [path: string, metadata: object, body: object, status: number, message: RegExp][] = [
    ['endpoints/a', {}, {}, 201, /^$/],
    ['endpoints/b', { resourceVersion: '5' }, {}, 201, /^$/],
    ['endpoints/c', { resourceVersion: 'x' }, {}, 400, /^strconv.ParseUint: parsing "x": invalid/],
    ['endpoints/a', { resourceVersion: 'x' }, {}, 400, /^strconv.ParseUint: parsing "x": invalid/],
    ['endpoints/a', { resourceVersion: '9'.repeat(30) }, {}, 400, /value out of range$/],
    ['endpoints/a', { resourceVersion: '999999' }, {}, 409, /has been modified/],
    ['services/a', {}, ports, 404, /^services "a" not found$/],
    ['services/a/status', {}, {}, 422, /spec.ports: Required value/],
    [
      'services/a/status',
      { uid: 'x' },
      ports,
      409,
      /UID in precondition: x, UID in object meta: $/,
    ],
    ['services/a/status', { resourceVersion: '5' }, ports, 201, /^$/],
    ['pods/a/status', {}, {}, 404, /^pods "a" not found$/],
  ]
  for (const [path, metadata, given, status, message] of cases) {
    const name = path.split('/')[1]
    const body = JSON.stringify({ metadata: { name, ...metadata }, ...given })
    const answer = await served.ask('PUT', `/api/v1/namespaces/default/${path}`, { body })
    assert.equal(answer.status, status, `${path} ${body}: ${answer.text}`)
    assert.match(answer.json.message ?? '', message, path)
  }
  const made = await served.ask('GET', '/api/v1/namespaces/default/services/a')
  assert.equal(made.json.spec.clusterIP, undefined, 'nothing is allocated for a status')
})

test('a create rejects a nonzero resourceVersion', async () => {
  const cases: [version: string, status: number][] = [
    ['5', 400],
    ['0', 201],
    ['x', 201],
  ]
  for (const [resourceVersion, status] of cases) {
    const body = JSON.stringify({ metadata: { name: `v${resourceVersion}`, resourceVersion } })
    const answer = await served.ask('POST', '/api/v1/namespaces/default/configmaps', { body })
    assert.equal(answer.status, status, `${resourceVersion}: ${answer.text}`)
  }
})
