/**
 * Requests with dryRun=All: every stage runs and answers as it would, and nothing is left of it.
 */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { WebhookServer } from '../src/admission/webhook/webhook-server.suite.ts'
import { judge, type Said, say, type Wanted } from './conversation.fixture.ts'
import { type RunningServer, startServer } from './running-server.ts'

let server: RunningServer
const maps = '/api/v1/namespaces/default/configmaps'
const services = '/api/v1/namespaces/default/services'
const pods = '/api/v1/namespaces/default/pods'
const sets = '/apis/apps/v1/namespaces/default/deployments'
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const events = '/api/v1/namespaces/default/events'
const kept = `${maps}/kept`
const map = (name: string, data: object = { a: '1' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})

before(async () => {
  server = await startServer(['--controllers=-*'])
  for (const name of ['kept', 'held']) assert.equal((await post(maps, map(name))).status, 201)
  await post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  await post('/api/v1/namespaces', { metadata: { name: 'ending' } })
  const held = { finalizers: ['example.com/held'] }
  await post(maps, { metadata: { name: 'leaving', ...held } })
  await server.ask('DELETE', `${maps}/leaving`)
  const labels = { a: 'b' }
  await post(pods, { ...pod, metadata: { name: 'there', labels } })
  await post(pods, { ...pod, metadata: { name: 'held', ...held } })
  const template = { metadata: { labels }, spec: pod.spec }
  const selector = { matchLabels: labels }
  await post(sets, { metadata: { name: 'd' }, spec: { selector, template } })
  const { body } = await post(budgets, { metadata: { name: 'b' }, spec: { selector } })
  const counts = { disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 0, expectedPods: 1 }
  const status = { observedGeneration: 1, ...counts }
  const told = await server.ask('PUT', `${budgets}/b/status`, { ...body, status })
  assert.equal(told.status, 200)
})
after(() => server.stop())

const post = (path: string, body: unknown) => server.ask('POST', path, body)
/** Everything there is, with its versions. */
const state = async () =>
  JSON.stringify(
    await Promise.all(
      [maps, services, pods, sets, budgets, definitions, events, '/api/v1/namespaces'].map(
        async (path) => (await server.ask('GET', path)).body.items,
      ),
    ),
  )

const service = (spec: object) => ({
  metadata: { name: 's' },
  spec: { ports: [{ port: 80 }], ...spec },
})
const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' } }
const target = { metadata: { name: 'there' }, target: { kind: 'Node', name: 'n' } }
const success = { status: 201, has: { status: 'Success' } }
/** A kind that would be. */
const definition = {
  metadata: { name: 'dries.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'dries', kind: 'Dry' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object' } },
      },
    ],
  },
}

/** Each is sent with dryRun=All. */
const asked: [what: string, said: Said, wanted: Wanted][] = [
  [
    'a create is defaulted and answered as one, without a version',
    { method: 'POST', path: pods, body: pod },
    {
      status: 201,
      has: { 'spec.restartPolicy': 'Always', 'metadata.resourceVersion': undefined },
    },
  ],
  ...['abc', '0', '99999999999999999999', 'ü"'].map((resourceVersion): (typeof asked)[number] => [
    `a create shows the version it was given: ${resourceVersion}`,
    { method: 'POST', path: maps, body: { metadata: { name: 'given', resourceVersion } } },
    { status: 201, has: { 'metadata.resourceVersion': resourceVersion } },
  ]),
  [
    'a create is validated',
    { method: 'POST', path: maps, body: { metadata: { name: 'No' } } },
    { status: 422, message: /a lowercase RFC 1123 subdomain/ },
  ],
  [
    'a create of what is there fails',
    { method: 'POST', path: maps, body: map('kept') },
    { status: 409, message: 'configmaps "kept" already exists' },
  ],
  [
    'a create passes admission',
    { method: 'POST', path: maps.replace('default', 'nowhere'), body: map('x') },
    { status: 404, message: 'namespaces "nowhere" not found' },
  ],
  [
    'an update',
    { method: 'PUT', path: kept, body: map('kept', { b: '2' }) },
    { has: { data: { b: '2' } } },
  ],
  [
    'an update of a version that is not current',
    {
      method: 'PUT',
      path: kept,
      body: { ...map('kept'), metadata: { name: 'kept', resourceVersion: '1' } },
    },
    { status: 409 },
  ],
  [
    'a merge patch',
    { method: 'merge', path: kept, body: { data: { b: '2' } } },
    { has: { data: { a: '1', b: '2' } } },
  ],
  [
    'a strategic patch',
    { method: 'strategic', path: kept, body: { data: { a: null } } },
    { has: { data: undefined } },
  ],
  [
    'a JSON patch',
    { method: 'json', path: kept, body: [{ op: 'add', path: '/data/c', value: '3' }] },
    { has: { 'data.c': '3' } },
  ],
  [
    'an apply',
    { method: 'force', path: kept, as: 'one', body: map('kept', { a: '2' }) },
    { has: { 'data.a': '2' } },
  ],
  [
    'an apply of what is not there',
    { method: 'apply', path: `${maps}/new`, as: 'one', body: map('new') },
    { status: 201, owners: ['one Apply data.a'] },
  ],
  [
    'a patch of a subresource',
    { method: 'merge', path: '/api/v1/namespaces/default/status', body: { status: {} } },
    {},
  ],
  ['a deletion', { method: 'DELETE', path: kept }, { has: { status: 'Success' } }],
  [
    'a deletion of what is not there',
    { method: 'DELETE', path: `${maps}/absent` },
    { status: 404, message: 'configmaps "absent" not found' },
  ],
  [
    'a deletion of all',
    { method: 'DELETE', path: maps },
    { has: { kind: 'ConfigMapList', 'items.1.metadata.name': 'kept' } },
  ],
  [
    'a deletion of what has finalizers, which would be on its way',
    { method: 'DELETE', path: `${pods}/held` },
    { has: { 'metadata.deletionGracePeriodSeconds': 0 } },
  ],
  [
    'the last finalizer of an object that is being deleted',
    { method: 'merge', path: `${maps}/leaving`, body: { metadata: { finalizers: null } } },
    { has: { 'metadata.finalizers': undefined } },
  ],
  [
    'a deletion of a namespace, which would end',
    { method: 'DELETE', path: '/api/v1/namespaces/ending' },
    { has: { 'status.phase': 'Terminating' } },
  ],
  ['a binding', { method: 'POST', path: `${pods}/there/binding`, body: target }, success],
  [
    'an eviction, with the budget it would use',
    {
      method: 'POST',
      path: `${pods}/there/eviction`,
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'there' } },
    },
    success,
  ],
  [
    'an update of a scale',
    {
      method: 'PUT',
      path: `${sets}/d/scale`,
      body: { ...scale, metadata: { name: 'd', namespace: 'default' }, spec: { replicas: 5 } },
    },
    { has: { 'spec.replicas': 5 } },
  ],
  [
    'a patch of a scale',
    { method: 'merge', path: `${sets}/d/scale`, body: { spec: { replicas: 5 } } },
    { has: { 'spec.replicas': 5 } },
  ],
  [
    'an apply of a scale',
    {
      method: 'force',
      path: `${sets}/d/scale`,
      as: 'one',
      body: { ...scale, spec: { replicas: 5 } },
    },
    { has: { 'spec.replicas': 5 } },
  ],
  [
    'a definition, which would be served',
    { method: 'POST', path: definitions, body: definition },
    { status: 201, has: { 'metadata.resourceVersion': undefined } },
  ],
  [
    'an event',
    {
      method: 'POST',
      path: events,
      body: { metadata: { name: 'e' }, involvedObject: { namespace: 'default' } },
    },
    { status: 201 },
  ],
  [
    'a service is given an address',
    { method: 'POST', path: services, body: service({ type: 'NodePort' }) },
    { status: 201, has: { 'spec.type': 'NodePort' } },
  ],
]
for (const [what, said, wanted] of asked) {
  test(`${what}, and nothing is changed`, async () => {
    const before = await state()
    judge(await say(server, { ...said, query: 'dryRun=All' }), wanted, what)
    assert.equal(await state(), before)
  })
}

test('what would be served is not', async () => {
  assert.equal((await server.ask('GET', '/apis/example.com/v1/dries')).status, 404)
  const { body } = await server.ask('GET', '/apis')
  const groups = body.groups.map(({ name }: { name: string }) => name)
  assert.ok(!groups.includes('example.com'))
})

test('the options of an eviction may request it too', async () => {
  const before = await state()
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: 'there' },
    deleteOptions: { dryRun: ['All'] },
  }
  assert.equal((await post(`${pods}/there/eviction`, body)).status, 201)
  assert.equal(await state(), before)
})

test('what is generated is not kept: each try has a uid and a name of its own', async () => {
  const tried = async () => {
    const { body } = await post(`${maps}?dryRun=All`, { metadata: { generateName: 'made-' } })
    return [body.metadata.uid, body.metadata.name]
  }
  const [first, second] = [await tried(), await tried()]
  assert.match(String(first[1]), /^made-[a-z0-9]{5}$/)
  for (const i of [0, 1]) assert.notEqual(first[i], second[i])
})

test('DeleteOptions may request it too, and the query beside them', async () => {
  const before = await state()
  for (const path of [kept, maps, `${pods}/there`, sets]) {
    for (const [query, body] of [
      ['', { dryRun: ['All'] }],
      ['?dryRun=All', { propagationPolicy: 'Orphan' }],
      ['?dryRun=All', { dryRun: [] }],
      ['?dryRun=All', null],
    ] as const) {
      // Node leaves the length of a DELETE's body to its caller.
      const headers = { 'content-length': String(JSON.stringify(body).length) }
      assert.equal((await server.ask('DELETE', path + query, body, headers)).status, 200)
    }
  }
  assert.equal(await state(), before)
})

test('addresses and ports that were tried are free, and those that are taken are taken', async () => {
  const spec = { type: 'NodePort', clusterIP: '10.0.7.7', ports: [{ port: 80, nodePort: 30777 }] }
  const first = await post(`${services}?dryRun=All`, service(spec))
  assert.equal(first.body.spec.clusterIP, '10.0.7.7')
  assert.equal((await post(services, service(spec))).status, 201)
  const other = { ...service(spec), metadata: { name: 'other' } }
  const taken = await post(`${services}?dryRun=All`, other)
  assert.equal(taken.status, 422)
  assert.match(taken.body.message, /provided (IP|port) is already allocated/)
  await server.ask('DELETE', `${services}/s?dryRun=All`)
  assert.equal((await post(services, other)).status, 422)
})

test('a quota is checked, and not used', async () => {
  const namespace = { metadata: { name: 'counted' } }
  assert.equal((await post('/api/v1/namespaces', namespace)).status, 201)
  const quotas = '/api/v1/namespaces/counted/resourcequotas'
  const { body: quota } = await post(quotas, {
    metadata: { name: 'q' },
    spec: { hard: { configmaps: '1' } },
  })
  const status = { hard: { configmaps: '1' }, used: { configmaps: '0' } }
  assert.equal((await server.ask('PUT', `${quotas}/q/status`, { ...quota, status })).status, 200)
  const here = maps.replace('default', 'counted')
  const used = async () => (await server.ask('GET', `${quotas}/q`)).body.status.used.configmaps
  for (const name of ['a', 'b']) {
    assert.equal((await post(`${here}?dryRun=All`, map(name))).status, 201)
    assert.equal(await used(), '0')
  }
  assert.equal((await post(here, map('a'))).status, 201)
  assert.equal(await used(), '1')
  const over = await post(`${here}?dryRun=All`, map('b'))
  assert.equal(over.status, 403)
  assert.match(over.body.message, /exceeded quota: q/)
})

test('no watcher hears of it', async () => {
  const { body } = await server.ask('GET', maps)
  const { resourceVersion } = body.metadata
  const query = `watch=true&timeoutSeconds=1&resourceVersion=${resourceVersion}`
  const watched = server.ask('GET', `${maps}?${query}`)
  for (const [, said] of asked) await say(server, { ...said, query: 'dryRun=All' })
  assert.equal((await watched).text, '')
})

test('a user without the right may not try it', async () => {
  const user = 'nobody'
  const attempts: Said[] = [
    { method: 'POST', path: maps, body: map('x') },
    { method: 'PUT', path: kept, body: map('kept') },
    { method: 'merge', path: kept, body: {} },
    { method: 'DELETE', path: kept },
    { method: 'DELETE', path: maps },
  ]
  for (const said of attempts) {
    const real = await say(server, { ...said, user })
    const dry = await say(server, { ...said, user, query: 'dryRun=All' })
    assert.equal(dry.status, 403)
    assert.equal(dry.body.message, real.body.message)
  }
})

test('a webhook sees that it is one, and what it changes shows', async () => {
  const hooks = await WebhookServer.start()
  const patch = Buffer.from('[{"op":"add","path":"/data/hook","value":"was here"}]')
  hooks.paths.set('/mutate', () => ({
    allowed: true,
    patchType: 'JSONPatch',
    patch: patch.toString('base64'),
  }))
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }
  const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
  try {
    await post(path, {
      metadata: { name: 'told' },
      webhooks: [
        {
          name: 'told.example.com',
          clientConfig: hooks.at('/mutate'),
          sideEffects: 'NoneOnDryRun',
          admissionReviewVersions: ['v1'],
          rules: [{ ...rule, operations: ['CREATE'] }],
        },
      ],
    })
    const tried = () => post(`${maps}?dryRun=All`, map('hooked'))
    let { body } = await tried()
    for (let i = 0; i < 200 && body.data.hook === undefined; i++) ({ body } = await tried())
    assert.equal(body.data.hook, 'was here')
    const request = hooks.received.at(-1)?.review.request
    assert.equal(request.dryRun, true)
    assert.deepEqual(request.options.dryRun, ['All'])
    assert.equal((await server.ask('GET', `${maps}/hooked`)).status, 404)
  } finally {
    await server.ask('DELETE', `${path}/told`)
    hooks.stop()
  }
})

/** What follows `dryRun=`, and what comes of a create. */
const values: [value: string, status: number, message?: RegExp][] = [
  ['All', 201],
  ['All&dryRun=All', 201],
  [
    'Some',
    422,
    /CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: \[\]string\{"Some"\}/,
  ],
  ['all', 422, /dryRun: Unsupported value: \[\]string\{"all"\}: supported values: "All"/],
  ['All&dryRun=Some', 422, /dryRun: Unsupported value/],
]
for (const [value, status, message] of values) {
  test(`dryRun=${value}`, async () => {
    const answer = await post(`${maps}?dryRun=${value}`, map('valued'))
    judge(answer, { status, ...(message && { message }) }, value)
    assert.equal((await server.ask('GET', `${maps}/valued`)).status, 404)
  })
}

test('an empty value is none: the request is done', async () => {
  assert.equal((await post(`${maps}?dryRun=`, map('done'))).status, 201)
  assert.equal((await server.ask('GET', `${maps}/done`)).status, 200)
})
