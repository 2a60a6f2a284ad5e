import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CounterpartAnswer, counterpart, type Counterpart } from '#access/counterpart.suite.ts'
import { ApiError } from '#api/status-error.ts'
import { PartialDiscovery } from '#client/client.ts'
import type { Aggregation, Remote } from './aggregation.ts'
import { RemoteApiClient } from './remote-client.ts'
import { RemoteKinds } from './remote-kinds.ts'

let server: Counterpart
let answer: CounterpartAnswer = {}
const requested: { line: string; user: unknown; body: string }[] = []

before(async () => {
  server = await counterpart(({ method, path, headers, body }) => {
    requested.push({ line: `${method} ${path}`, user: headers['x-remote-user'], body })
    return answer
  })
})
after(() => server.stop())

const user = { name: 'gc', uid: '', groups: [], extra: {} }
const resource = { group: 'g.example.com', version: 'v1', plural: 'widgets' }

function clientOf(...keys: [groupVersion: string, available: boolean][]) {
  const trust = { insecure: false, ca: server.authority.pem }
  const remotes = new Map(
    keys.map(([key, available]) => [key, { name: key, available, trust } as unknown as Remote]),
  )
  const aggregation = {
    remotes: () => remotes,
    remoteOf: (group: string, version: string) => remotes.get(`${group}/${version}`),
    priorityOf: (_: string, version: string) => ({ group: 1, version: version === 'v1' ? 2 : 1 }),
    backendOf: async () => ({
      secure: true,
      host: 'localhost',
      port: Number(new URL(server.url).port),
      trust,
    }),
  } as unknown as Aggregation
  return new RemoteApiClient(aggregation, new RemoteKinds(aggregation), user)
}
const clientThere = () => clientOf(['g.example.com/v1', true])

const status = (code: number, reason: string) => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason },
})
const failures: [what: string, answer: CounterpartAnswer, code: number][] = [
  ['a deleted object', status(404, 'NotFound'), 404],
  ['a lost race', status(409, 'Conflict'), 409],
  [
    'a 404 without Status does not mean a deleted object',
    { status: 404, body: '404 page not found' },
    503,
  ],
  ['a proxy between', { status: 502, body: '<html>' }, 503],
  ['a connection that breaks', 'reset', 503],
]
for (const [what, given, code] of failures) {
  test(`a failure: ${what}`, async () => {
    answer = given
    await assert.rejects(
      clientThere().get(resource, 'a', 'w'),
      (error) => error instanceof ApiError && error.code === code,
    )
  })
}

test('an unavailable server gets no requests', async () => {
  answer = { body: { metadata: {} } }
  requested.length = 0
  await assert.rejects(clientOf(['g.example.com/v1', false]).get(resource, 'a', 'w'), { code: 503 })
  assert.deepEqual(requested, [])
})

test('requests carry their options and their user', async () => {
  answer = { body: { metadata: {}, items: [] } }
  const client = clientThere()
  requested.length = 0
  await client.get(resource, 'a', 'w', 'scale')
  await client.list(resource, '', { limit: 5, labelSelector: 'a=b' })
  await client.update(resource, { metadata: { namespace: 'a', name: 'w' } }, 'status')
  await client.delete(resource, 'a', 'w', { uid: 'u', propagationPolicy: 'Background' })
  await client.deleteCollection(resource, 'a')
  const root = '/apis/g.example.com/v1'
  assert.deepEqual(
    requested.map(({ line }) => line),
    [
      `GET ${root}/namespaces/a/widgets/w/scale`,
      `GET ${root}/widgets?labelSelector=a%3Db&limit=5`,
      `PUT ${root}/namespaces/a/widgets/w/status`,
      `DELETE ${root}/namespaces/a/widgets/w`,
      `DELETE ${root}/namespaces/a/widgets`,
    ],
  )
  assert.ok(requested.every((one) => one.user === 'gc'))
  assert.deepEqual(JSON.parse(requested[3]?.body ?? ''), {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    preconditions: { uid: 'u' },
    propagationPolicy: 'Background',
  })
})

test('a watch yields objects, omits bookmarks and ends with its error', async () => {
  const metadata = { name: 'w', resourceVersion: '5' }
  const events = [
    { type: 'ADDED', object: { metadata } },
    { type: 'BOOKMARK', object: { metadata } },
    { type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old' } },
  ]
  answer = { body: events.map((event) => `${JSON.stringify(event)}\n`).join('') }
  const seen: string[] = []
  await assert.rejects(
    async () => {
      const signal = new AbortController().signal
      for await (const { type } of clientThere().watch(resource, '', '1', signal)) seen.push(type)
    },
    (error) => error instanceof ApiError && error.code === 410,
  )
  assert.deepEqual(seen, ['ADDED'])
})

test('resources are found once, in the preferred version; an unavailable server is reported', async () => {
  const verbs = ['list', 'delete', 'watch']
  answer = {
    body: {
      resources: [
        { name: 'widgets', kind: 'Widget', namespaced: true, verbs },
        { name: 'widgets/status', kind: 'Widget', namespaced: true, verbs: ['get'] },
      ],
    },
  }
  const client = clientOf(
    ['g.example.com/v1beta1', true],
    ['g.example.com/v1', true],
    ['away.example.com/v1', false],
  )
  const error = await client.resources().catch((thrown) => thrown)
  assert.ok(error instanceof PartialDiscovery)
  assert.equal(
    error.message,
    'unable to retrieve the complete list of server APIs: away.example.com/v1: the server is currently unable to handle the request',
  )
  const apiVersions = ['g.example.com/v1beta1', 'g.example.com/v1']
  assert.deepEqual(error.found, [
    { ...resource, kind: 'Widget', namespaced: true, verbs: new Set(verbs), apiVersions },
  ])
})
