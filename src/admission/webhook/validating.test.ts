/**
 * Validating webhooks: they run concurrently, each with the version that it requires, and each is
 * recorded.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { AdmissionRequest } from '#admission/admission.ts'
import { AdmissionChain } from '#admission/chain.ts'
import { kindOf, requestOf, types } from '#admission/requests.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { authorizer, meterOf } from '#admission/policy/policies.suite.ts'
import { nobody } from './credentials.ts'
import type { HookCall } from './dispatch.ts'
import { HookClient } from './hook-client.ts'
import { scaler, v1 } from './autoscaler.fixture.ts'
import { validatingWebhooks } from './validating.ts'
import { ownPlace, WebhookServer } from './webhook-server.suite.ts'

const mapKind = kindOf('v1', 'configmaps')
let server: WebhookServer
let calls: HookCall[]

before(async () => {
  server = await WebhookServer.start()
})
after(() => server.stop())
beforeEach(() => {
  server.received.length = 0
  server.paths.clear()
  calls = []
})

const hook = (name: string, changes: Loose = {}): Loose => ({
  name: `${name}.x.io`,
  clientConfig: server.at(`/${name}`),
  rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...changes,
})
const gone = { clientConfig: { url: 'https://127.0.0.1:1/x' } }
const map = () => requestOf('CREATE', mapKind, { metadata: { name: 'm' } })

async function run(request: AdmissionRequest, release: number, ...webhooks: Loose[]) {
  const reader = new MemoryReader()
  reader.put('', 'namespaces', { metadata: { name: 'ns', labels: { team: 'a' } } })
  const plural = 'validatingwebhookconfigurations'
  reader.put('admissionregistration.k8s.io', plural, { metadata: { name: 'v' }, webhooks })
  const plugin = validatingWebhooks({
    client: new HookClient(nobody, ownPlace),
    authorizer: authorizer(false),
    newUid: () => 'u',
    release,
    types,
    skipsReviews: false,
    meter: meterOf(release).meter,
    observe: (call) => calls.push(call),
    report: () => {},
  })
  const chain = new AdmissionChain([plugin], reader)
  await chain.start()
  try {
    await chain.validate(request)
    return 'admitted'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.message
  }
}
const called = () =>
  server.received
    .map(({ path }) => path.slice(1))
    .sort()
    .join(' ')

test('all are called concurrently: each of three responds when the others have been called too', async () => {
  const waiting: (() => void)[] = []
  server.onRequest = (go) => {
    waiting.push(go)
    if (waiting.length === 3) for (const one of waiting) one()
  }
  const reported = await run(map(), 22, hook('a'), hook('b'), hook('c'))
  server.onRequest = undefined
  assert.equal(reported, 'admitted')
  assert.equal(called(), 'a b c')
})

test('of several rejections the first in order is returned, and all are counted', async () => {
  server.paths.set('/b', () => ({ allowed: false, status: { message: 'first' } }))
  server.paths.set('/c', () => ({ allowed: false, status: { message: 'second' } }))
  const reported = await run(map(), 22, hook('a'), hook('b'), hook('c'))
  assert.equal(reported, 'admission webhook "b.x.io" denied the request: first')
  assert.deepEqual(
    calls.map(({ name, type, operation, rejected }) => [name, type, operation, rejected]).sort(),
    [
      ['a.x.io', 'validating', 'CREATE', false],
      ['b.x.io', 'validating', 'CREATE', true],
      ['c.x.io', 'validating', 'CREATE', true],
    ],
  )
})

test('a webhook may send any number of warnings', async () => {
  server.paths.set('/a', () => ({ allowed: true, warnings: Array(300_000).fill('w') }))
  const request = map()
  assert.equal(await run(request, 22, hook('a')), 'admitted')
  assert.equal(request.warnings.length, 300_000)
})

const elsewhere = { namespaceSelector: { matchLabels: { team: 'b' } } }
const failed = 'failed-open.validating.webhook.admission.k8s.io/round_0_index_'
const open: [release: number, hooks: () => Loose[], expected: Loose][] = [
  [
    22,
    () => [hook('a'), hook('b', { ...gone, failurePolicy: 'Ignore' })],
    { [`${failed}1`]: 'b.x.io' },
  ],
  [21, () => [hook('a'), hook('b', { ...gone, failurePolicy: 'Ignore' })], {}],
  // Webhooks that are not called have no position.
  [
    22,
    () => [hook('a', elsewhere), hook('b', { ...gone, failurePolicy: 'Ignore' })],
    { [`${failed}0`]: 'b.x.io' },
  ],
]
for (const [release, hooks, expected] of open) {
  test(`the log of 1.${release} has ${JSON.stringify(expected)}`, async () => {
    const request = map()
    assert.equal(await run(request, release, ...hooks()), 'admitted')
    assert.deepEqual(Object.fromEntries(request.auditAnnotations), expected)
  })
}

test('only webhooks that match the namespace are called', async () => {
  const here = { namespaceSelector: { matchLabels: { team: 'a' } } }
  assert.equal(await run(map(), 22, hook('a', elsewhere), hook('b', here)), 'admitted')
  assert.equal(called(), 'b')
})

test('each webhook gets the version that it requires', async () => {
  const of = (version: string) => ({
    matchPolicy: 'Equivalent',
    rules: [{ ...hook('').rules[0], apiGroups: ['autoscaling'], apiVersions: [version] }],
  })
  const object = await scaler()
  const request = requestOf('UPDATE', v1, object, { old: await scaler() })
  const reported = await run(
    request,
    22,
    hook('a', of('v2beta2')),
    hook('b', of('v1')),
    hook('c', of('v2beta2')),
  )
  assert.equal(reported, 'admitted')
  const seen = server.received.map(({ path, review: { request: requested } }) => [
    path,
    requested.object.apiVersion,
    requested.oldObject.apiVersion,
    requested.resource.version,
    requested.requestResource.version,
    requested.kind.version,
    requested.requestKind.version,
  ])
  const v2 = 'v2beta2'
  assert.deepEqual(seen.sort(), [
    ['/a', `autoscaling/${v2}`, `autoscaling/${v2}`, v2, 'v1', v2, 'v1'],
    ['/b', 'autoscaling/v1', 'autoscaling/v1', 'v1', 'v1', 'v1', 'v1'],
    ['/c', `autoscaling/${v2}`, `autoscaling/${v2}`, v2, 'v1', v2, 'v1'],
  ])
  // Webhooks see a copy of the object.
  assert.deepEqual(object, await scaler())
})

test('webhooks do not intercept webhook configurations', async () => {
  const kind = kindOf('admissionregistration.k8s.io/v1', 'validatingwebhookconfigurations')
  assert.equal(
    await run(requestOf('CREATE', kind, { metadata: { name: 'x' } }), 22, hook('a')),
    'admitted',
  )
  assert.equal(called(), '')
})

const conditions = (...expressions: string[]) => ({
  matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })),
})

for (const [title, changes, reported, wanted] of [
  ['all conditions hold', conditions('true', "object.metadata.name == 'm'"), 'admitted', 'a'],
  [
    'a condition does not hold',
    conditions('true', "request.operation == 'DELETE'"),
    'admitted',
    '',
  ],
  [
    'a condition fails',
    conditions('object.none == 1'),
    `configmaps "m" is forbidden: expression 'object.none == 1' resulted in error: no such key: none`,
    '',
  ],
  [
    'a condition fails, and the webhook fails open',
    { ...conditions('object.none == 1'), failurePolicy: 'Ignore' },
    'admitted',
    '',
  ],
  [
    'the user may do something',
    conditions("authorizer.group('').resource('pods').name('allowed').check('get').allowed()"),
    'admitted',
    'a',
  ],
  [
    'the namespace is not shown',
    conditions('namespaceObject == null && oldObject == null'),
    'admitted',
    'a',
  ],
] as const)
  test(`a webhook is called if its conditions hold: ${title}`, async () => {
    assert.equal(await run(map(), 37, hook('a', changes)), reported)
    assert.equal(called(), wanted)
  })
