/**
 * The results of mutating webhooks: what is a change, which webhook is called again, and the audit
 * annotations.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { AdmissionPlugin, AdmissionRequest } from '#admission/admission.ts'
import { AdmissionChain } from '#admission/chain.ts'
import { kindOf, pod, podKind, requestOf, types } from '#admission/requests.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { backInV1, scaler, v1 } from './autoscaler.fixture.ts'
import { authorizer, meterOf } from '#admission/policy/policies.suite.ts'
import { nobody } from './credentials.ts'
import type { HookCall } from './dispatch.ts'
import { HookClient } from './hook-client.ts'
import { mutatingWebhooks } from './mutating.ts'
import { ownPlace, WebhookServer } from './webhook-server.suite.ts'

const mapKind = kindOf('v1', 'configmaps')
let server: WebhookServer
let reader: MemoryReader
let calls: HookCall[]
let reports: string[]
let others: AdmissionPlugin[]
let release = 22
let thrown: ApiError | undefined

before(async () => {
  server = await WebhookServer.start()
})
after(() => server.stop())
beforeEach(() => {
  server.received.length = 0
  server.paths.clear()
  calls = []
  reports = []
  others = []
  release = 22
  thrown = undefined
  reader = new MemoryReader()
  reader.put('', 'namespaces', { metadata: { name: 'ns', labels: { team: 'a' } } })
})

const hook = (name: string, changes: Loose = {}): Loose => ({
  name: `${name}.x.io`,
  clientConfig: server.at(`/${name}`),
  rules: [
    { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], scope: '*' },
  ],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  timeoutSeconds: 5,
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  ...changes,
})
const ifNeeded = { reinvocationPolicy: 'IfNeeded' }

async function run(request: AdmissionRequest, ...webhooks: Loose[]): Promise<string> {
  reader.put('admissionregistration.k8s.io', 'mutatingwebhookconfigurations', {
    metadata: { name: 'm' },
    webhooks,
  })
  const parts = {
    client: new HookClient(nobody, ownPlace),
    authorizer: authorizer(false),
    newUid: () => 'u',
    release,
    types,
    skipsReviews: false,
    meter: meterOf(release).meter,
    observe: (call: HookCall) => calls.push(call),
    report: (message: string) => reports.push(message),
  }
  const chain = new AdmissionChain([...others, mutatingWebhooks(parts)], reader)
  await chain.start()
  try {
    await chain.mutate(request)
    return 'admitted'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    thrown = error
    return `${error.code} ${error.message}`
  }
}

/** The refusal itself, for all that it says. */
async function refusalOf(request: AdmissionRequest, ...webhooks: Loose[]): Promise<ApiError> {
  await run(request, ...webhooks)
  assert.ok(thrown)
  return thrown
}

const map = (more: Loose = {}): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'm', namespace: 'ns' },
  data: { k: 'v' },
  ...more,
})
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
const patchOf = (...operations: unknown[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: encoded(operations),
})
const called = () => server.received.map(({ path }) => path.slice(1)).join(' ')
const label = (name: string) => ({
  op: 'add',
  path: '/metadata/labels',
  value: { [name]: 'x' },
})
const annotations = ({ auditAnnotations }: AdmissionRequest) => Object.fromEntries(auditAnnotations)
const mutation = (place: string) => `mutation.webhook.admission.k8s.io/${place}`

const owners = [
  { manager: 'me', operation: 'Update', apiVersion: 'v1', time: '2026-01-01T00:00:00Z' },
] as never
const same = { op: 'replace', path: '/data/k', value: 'v' }
const other = { op: 'replace', path: '/data/k', value: 'w' }
const changes: [what: string, request: () => AdmissionRequest, patch: Loose, changed: boolean][] = [
  ['another value', () => requestOf('CREATE', mapKind, map()), other, true],
  ['the same value', () => requestOf('CREATE', mapKind, map()), same, false],
  [
    'the same value in what has owners of this request',
    () => requestOf('CREATE', mapKind, map({ metadata: { name: 'm', managedFields: owners } })),
    same,
    true,
  ],
  [
    'the same value in an update that owns nothing',
    () => {
      const metadata = { name: 'm', managedFields: owners }
      return requestOf('UPDATE', mapKind, map({ metadata }), { old: map({ metadata }) })
    },
    same,
    false,
  ],
  [
    'the same value in an update that owns something',
    () => {
      const metadata = { name: 'm', managedFields: owners }
      return requestOf('UPDATE', mapKind, map({ metadata }), { old: map() })
    },
    same,
    true,
  ],
]
for (const [what, make, operation, changed] of changes) {
  test(`${what} is ${changed ? 'a' : 'no'} change`, async () => {
    const request = make()
    server.paths.set('/a', () => patchOf(operation))
    assert.equal(await run(request, hook('a')), 'admitted')
    const reported = JSON.parse(request.auditAnnotations.get(mutation('round_0_index_0')) as string)
    assert.deepEqual(reported, { configuration: 'm', webhook: 'a.x.io', mutated: changed })
    assert.equal(request.reinvoke === true, changed)
  })
}

test('only the first patch of a request changes the precision of times in managedFields', async () => {
  const metadata = { name: 'm', managedFields: owners }
  const request = requestOf('CREATE', mapKind, map({ metadata }))
  server.paths.set('/a', () => patchOf(same))
  server.paths.set('/b', () => patchOf(same))
  assert.equal(await run(request, hook('a'), hook('b')), 'admitted')
  const mutated = [0, 1].map(
    (i) => JSON.parse(request.auditAnnotations.get(mutation(`round_0_index_${i}`)) ?? '').mutated,
  )
  assert.deepEqual(mutated, [true, false])
})

const once = (name: string) => (request: Loose) =>
  request.object.metadata.labels?.[name] === undefined ? patchOf(label(name)) : { allowed: true }
const rounds: [what: string, hooks: () => Loose[], patching: string[], expected: string][] = [
  ['no webhook changes the object', () => [hook('a', ifNeeded), hook('b', ifNeeded)], [], 'a b'],
  ['another changes it', () => [hook('a', ifNeeded), hook('b')], ['b'], 'a b a'],
  ['the first changes it', () => [hook('a', ifNeeded), hook('b')], ['a'], 'a b'],
  ['no webhook is to be called again', () => [hook('a'), hook('b')], ['b'], 'a b'],
  [
    'what came before the last change alone',
    () => [hook('a', ifNeeded), hook('b'), hook('c', ifNeeded)],
    ['b'],
    'a b c a',
  ],
  [
    'of one that did not match before',
    () => [hook('a', { ...ifNeeded, objectSelector: { matchLabels: { b: 'x' } } }), hook('b')],
    ['b'],
    'b',
  ],
  [
    'of one that matches since',
    () => [hook('b'), hook('c', { objectSelector: { matchLabels: { b: 'x' } } })],
    ['b'],
    'b c',
  ],
]
for (const [what, hooks, patching, expected] of rounds) {
  test(`called again: ${what}`, async () => {
    for (const name of patching) server.paths.set(`/${name}`, once(name))
    assert.equal(await run(requestOf('CREATE', mapKind, map()), ...hooks()), 'admitted')
    assert.equal(called(), expected)
  })
}

test('called again: a plugin changed the result of the last webhook', async () => {
  others = [
    {
      name: 'Adding',
      mutate: ({ object, round }) => {
        if (round === 1 && object) object.data = { ...object.data, late: 'yes' }
      },
    },
  ]
  server.paths.set('/a', once('a'))
  const request = requestOf('CREATE', mapKind, map())
  assert.equal(await run(request, hook('a', ifNeeded)), 'admitted')
  assert.equal(called(), 'a a')
  assert.equal(server.received[1].review.request.object.data.late, 'yes')
  assert.ok(request.auditAnnotations.has(mutation('round_1_index_0')))
})

const refused = 'Internal error occurred: '
const faults: [what: string, answer: Loose, expected: string][] = [
  ['an empty patch', patchOf(), 'admitted'],
  ['null for a patch', { ...patchOf(), patch: encoded(null) }, 'admitted'],
  [
    'no JSON',
    { ...patchOf(), patch: Buffer.from('nonsense').toString('base64') },
    `500 ${refused}invalid character 'o' in literal null (expecting 'u')`,
  ],
  [
    'too deep',
    { ...patchOf(), patch: Buffer.from('['.repeat(1e5) + ']'.repeat(1e5)).toString('base64') },
    `500 ${refused}invalid character '[' exceeded max depth`,
  ],
  [
    'an object',
    { ...patchOf(), patch: encoded({}) },
    `500 ${refused}json: cannot unmarshal object into Go value of type jsonpatch.Patch`,
  ],
  [
    'numbers',
    patchOf(1),
    `500 ${refused}json: cannot unmarshal number into Go value of type jsonpatch.Operation`,
  ],
  ['an unknown operation', patchOf({ op: 'x', path: '/a' }), `500 ${refused}Unexpected kind: x`],
  [
    'a removal of an absent field',
    patchOf({ op: 'remove', path: '/data/z' }),
    `500 ${refused}error in remove for path: '/data/z': Unable to remove nonexistent key: z: missing value`,
  ],
  [
    'another type of patch',
    { ...patchOf(same), patchType: 'MergePatch' },
    `500 ${refused}failed calling webhook "a.x.io": unsupported patch type "MergePatch"`,
  ],
  [
    'another kind',
    patchOf({ op: 'replace', path: '/kind', value: 'X' }),
    `500 ${refused}no kind "X" is registered for version "v1" in scheme "pkg/runtime/scheme.go:100"`,
  ],
  [
    'another version',
    patchOf({ op: 'replace', path: '/apiVersion', value: 'v2' }),
    `500 ${refused}no kind "ConfigMap" is registered for version "v2" in scheme "pkg/runtime/scheme.go:100"`,
  ],
  ['no kind at all', patchOf({ op: 'remove', path: '/kind' }), 'admitted'],
  [
    'a value that does not fit',
    patchOf({ op: 'add', path: '/data', value: 'x' }),
    `500 ${refused}v1.ConfigMap.Data: ReadMapCB: expect { or n, but found ", error found in #10 byte of ...|","data":"x","kind":|..., bigger context ...|{"apiVersion":"v1","data":"x","kind":"ConfigMap","metadata":{"name":"m","name|...`,
  ],
]
for (const [what, answer, expected] of faults) {
  test(`a patch that is ${what}`, async () => {
    const request = requestOf('CREATE', mapKind, map())
    server.paths.set('/a', () => answer)
    // A readable response is not a failed call, except one of an unknown type: the failure policy
    // does not apply.
    assert.equal(await run(request, hook('a')), expected)
    assert.deepEqual(request.object?.data, { k: 'v' })
    const isCall = expected.includes('failed calling')
    const type =
      expected === 'admitted' ? '' : isCall ? 'calling_webhook_error' : 'apiserver_internal_error'
    assert.deepEqual(
      calls.map(({ errorType, rejected }) => [errorType, rejected]),
      [[type, expected !== 'admitted']],
    )
    const open = await run(
      requestOf('CREATE', mapKind, map()),
      hook('a', { failurePolicy: 'Ignore' }),
    )
    assert.equal(open, isCall ? 'admitted' : expected)
  })
}

test('integers of a patch are exact', async () => {
  const patch = '[{"op":"add","path":"/spec/activeDeadlineSeconds","value":9007199254740993}]'
  server.paths.set('/a', () => ({ ...patchOf(), patch: Buffer.from(patch).toString('base64') }))
  const request = requestOf('CREATE', podKind, pod({ containers: [{ name: 'c', image: 'i' }] }))
  assert.equal(await run(request, hook('a')), 'admitted')
  assert.equal(request.object?.spec.activeDeadlineSeconds, 9007199254740993n)
})

test('steps have names from 1.22 on, also in the log of ignored failures', async () => {
  const gone = { clientConfig: { url: 'https://127.0.0.1:1/x' } }
  const words =
    'Post "https://127.0.0.1:1/x?timeout=5s": dial tcp 127.0.0.1:1: connect: connection refused'
  const rows: [release: number, changes: Loose, expected: string][] = [
    [22, gone, `failed to call webhook: ${words}`],
    [21, gone, words],
    [
      22,
      { admissionReviewVersions: ['v9'] },
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    ],
    [
      22,
      { clientConfig: { url: server.at('/a').url, caBundle: 'eA==' } },
      'could not get REST client: unable to load root certificates: unable to parse bytes as PEM block',
    ],
  ]
  for (const [of, changes, expected] of rows) {
    release = of
    const reported = await run(requestOf('CREATE', mapKind, map()), hook('a', changes))
    assert.equal(reported, `500 ${refused}failed calling webhook "a.x.io": ${expected}`)
  }
  server.paths.set('/a', () => ({ uid: 'x', allowed: true }))
  assert.equal(
    await run(requestOf('CREATE', mapKind, map()), hook('a')),
    `500 ${refused}failed calling webhook "a.x.io": received invalid webhook response: expected response.uid="u", got "x"`,
  )
  reports = []
  release = 22
  const request = requestOf('CREATE', mapKind, map())
  await run(request, hook('a', { ...gone, failurePolicy: 'Ignore' }))
  assert.deepEqual(reports, [
    `Failed calling webhook, failing open a.x.io: failed calling webhook "a.x.io": failed to call webhook: ${words}`,
  ])
  assert.equal(
    annotations(request)['failed-open.mutation.webhook.admission.k8s.io/round_0_index_0'],
    'a.x.io',
  )
})

for (const [of, isTold] of [
  [15, false],
  [16, true],
] as const) {
  test(`the log of 1.${of} has ${isTold ? '' : 'no '}mutations`, async () => {
    release = of
    server.paths.set('/a', () => patchOf({ value: 'w', path: '/data/k', op: 'replace' }))
    const request = requestOf('CREATE', mapKind, map())
    assert.equal(await run(request, hook('a')), 'admitted')
    const expected = {
      [mutation('round_0_index_0')]: '{"configuration":"m","webhook":"a.x.io","mutated":true}',
      'patch.webhook.admission.k8s.io/round_0_index_0':
        '{"configuration":"m","webhook":"a.x.io","patch":[{"op":"replace","path":"/data/k","value":"w"}],"patchType":"JSONPatch"}',
    }
    assert.deepEqual(annotations(request), isTold ? expected : {})
  })
}

test('audit annotations need a name, and the first value of a name is used', async () => {
  server.paths.set('/a', () => ({
    allowed: true,
    auditAnnotations: { good: '1', 'x/y': '2', '': '3', 'no good': '4' },
  }))
  const request = requestOf('CREATE', mapKind, map())
  request.auditAnnotations.set('a.x.io/good', 'first')
  await run(request, hook('a'))
  assert.deepEqual(
    [...request.auditAnnotations.keys()].filter((key) => key.startsWith('a.x.io')),
    ['a.x.io/good'],
  )
  assert.equal(request.auditAnnotations.get('a.x.io/good'), 'first')
})

test('a missing namespace is an error only if a selector needs it', async () => {
  const elsewhere = () => requestOf('CREATE', mapKind, map(), { namespace: 'gone' })
  assert.equal(await run(elsewhere(), hook('a', { namespaceSelector: {} })), 'admitted')
  const selects = { namespaceSelector: { matchLabels: { team: 'a' } } }
  assert.equal(await run(elsewhere(), hook('a', selects)), '404 namespaces "gone" not found')
  const otherRule = { ...selects, rules: [{ ...hook('a').rules[0], resources: ['secrets'] }] }
  assert.equal(await run(elsewhere(), hook('a', otherRule)), 'admitted')
})

test("the client's deadline limits webhooks, and failures after it are ignored as the policy says", async () => {
  server.paths.set('/a', () => 'never')
  const hurried = () => requestOf('CREATE', mapKind, map(), { deadlineAt: performance.now() + 900 })
  const began = performance.now()
  assert.match(await run(hurried(), hook('a')), /\?timeout=1s": context deadline exceeded$/)
  assert.equal(
    await run(hurried(), hook('a', { failurePolicy: 'Ignore' })),
    '504 Timeout: request did not complete within requested timeout',
  )
  // Its own timeout is ten seconds.
  assert.ok(performance.now() - began < 9000)
  assert.ok(reports.length === 2)
})

test('defaults are applied after a patch', async () => {
  const request = requestOf('CREATE', podKind, pod())
  server.paths.set('/a', () => patchOf({ op: 'add', path: '/spec/hostNetwork', value: true }))
  assert.equal(await run(request, hook('a')), 'admitted')
  assert.equal(request.object?.spec.restartPolicy, 'Always')
})

test('each webhook gets the previous result in the version that it requires', async () => {
  const object = await scaler()
  const of = (version: string) => ({
    rules: [{ ...hook('').rules[0], apiGroups: ['autoscaling'], apiVersions: [version] }],
  })
  const average = '/spec/metrics/0/resource/target/averageUtilization'
  const replaced = (path: string, value: number) => patchOf({ op: 'replace', path, value })
  server.paths.set('/a', () => replaced(average, 60))
  server.paths.set('/b', () => replaced('/spec/targetCPUUtilizationPercentage', 70))
  server.paths.set('/c', () => ({ allowed: true }))
  const request = requestOf('CREATE', v1, object)
  assert.equal(
    await run(request, hook('a', of('v2beta2')), hook('b', of('v1')), hook('c', of('v2beta2'))),
    'admitted',
  )
  const seen = server.received.map(({ review }) => review.request.object)
  assert.deepEqual(
    seen.map(({ apiVersion }) => apiVersion),
    ['autoscaling/v2beta2', 'autoscaling/v1', 'autoscaling/v2beta2'],
  )
  assert.equal(seen[1].spec.targetCPUUtilizationPercentage, 60)
  assert.equal(seen[2].spec.metrics[0].resource.target.averageUtilization, 70)
  const back = await backInV1(object)
  assert.equal(back.spec.targetCPUUtilizationPercentage, 70)
})

test('a patch without changes is applied nevertheless', async () => {
  const object = map({ data: undefined, binaryData: undefined })
  server.paths.set('/a', () => patchOf({ op: 'add', path: '/data', value: {} }))
  const request = requestOf('CREATE', mapKind, object)
  assert.equal(await run(request, hook('a')), 'admitted')
  assert.equal(request.reinvoke, undefined)
  assert.equal(request.object, object)
})

test('each webhook sees earlier results, and no later ones', async () => {
  server.paths.set('/a', () => patchOf(label('a')))
  const request = requestOf('CREATE', mapKind, map())
  assert.equal(await run(request, hook('z'), hook('a'), hook('b')), 'admitted')
  assert.deepEqual(
    server.received.map(({ review }) => review.request.object.metadata.labels),
    [undefined, undefined, { a: 'x' }],
  )
})

test('a webhook is called again once, and not for the same change twice', async () => {
  server.paths.set('/b', once('b'))
  server.paths.set('/c', (request: Loose) =>
    request.object.metadata.labels?.c === undefined
      ? patchOf({ op: 'add', path: '/metadata/labels/c', value: 'x' })
      : { allowed: true },
  )
  const hooks = [hook('a', ifNeeded), hook('b'), hook('d', ifNeeded), hook('c')]
  assert.equal(await run(requestOf('CREATE', mapKind, map()), ...hooks), 'admitted')
  assert.equal(called(), 'a b d c a d')
})

test('before 1.22 the audit log has no ignored failures', async () => {
  const gone = { clientConfig: { url: 'https://127.0.0.1:1/x' }, failurePolicy: 'Ignore' }
  release = 21
  const request = requestOf('CREATE', mapKind, map())
  assert.equal(await run(request, hook('a', gone)), 'admitted')
  assert.deepEqual([...request.auditAnnotations.keys()], [mutation('round_0_index_0')])
})

const owner = {
  manager: 'one',
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': {} },
}
/** The managedFields that a webhook returns, and the warning: none if they are valid. */
const spoilt: [what: Loose, stated: string | undefined][] = [
  [{ manager: 'two' }, undefined],
  [{ operation: 'Nope' }, 'operation must be `Apply` or `Update`'],
  [{ fieldsType: 'X' }, 'invalid fieldsType "X" in managed fields entry 0'],
  [{ apiVersion: '' }, 'apiVersion must not be empty'],
]
for (const [what, stated] of spoilt) {
  test(`owners with ${JSON.stringify(what)} after a webhook: ${stated ?? 'kept'}`, async () => {
    const made = { ...owner, ...what }
    server.paths.set('/a', () =>
      patchOf({ op: 'replace', path: '/metadata/managedFields', value: [made] }),
    )
    const metadata = { name: 'm', namespace: 'ns', managedFields: [owner] }
    const request = requestOf('CREATE', mapKind, map({ metadata } as Loose))
    assert.equal(await run(request, hook('a')), 'admitted')
    const [kept] = request.object?.metadata.managedFields ?? []
    assert.deepEqual({ ...kept }, stated === undefined ? made : owner)
    const about =
      '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: '
    assert.deepEqual(request.warnings, stated === undefined ? [] : [about + stated])
  })
}

test('a rejection keeps the metadata of its Status', async () => {
  const metadata = { resourceVersion: '5', bogus: 1 }
  server.paths.set('/a', () => ({ allowed: false, status: { metadata } }))
  const refusal = await refusalOf(requestOf('CREATE', mapKind, map()), hook('a'))
  assert.deepEqual(refusal.status().metadata, { resourceVersion: '5' })
})

const denials: [status: Loose | undefined, expected: unknown[]][] = [
  [
    { code: 399, message: 'm' },
    [400, '', 'admission webhook "a.x.io" denied the request: m', undefined],
  ],
  [
    { code: 400 },
    [400, '', 'admission webhook "a.x.io" denied the request without explanation', undefined],
  ],
  [
    { code: 429, reason: 'Slow', message: 'm', details: { retryAfterSeconds: 7 } },
    [429, 'Slow', 'admission webhook "a.x.io" denied the request: m', { retryAfterSeconds: 7 }],
  ],
  [
    { code: 1000, details: { causes: [], uid: 'u' } },
    [400, '', 'admission webhook "a.x.io" denied the request without explanation', { uid: 'u' }],
  ],
  [{ reason: 'R' }, [400, 'R', 'admission webhook "a.x.io" denied the request: R', undefined]],
]
for (const [status, expected] of denials) {
  test(`denied with ${JSON.stringify(status)}`, async () => {
    server.paths.set('/a', () => ({ allowed: false, status }))
    const refusal = await refusalOf(requestOf('CREATE', mapKind, map()), hook('a'))
    assert.deepEqual([refusal.code, refusal.reason, refusal.message, refusal.details], expected)
    assert.deepEqual(
      calls.map(({ code, errorType }) => [code, errorType]),
      [[expected[0], 'no_error']],
    )
  })
}

test('a dry run checks side effects, and an absent value does not count as none', async () => {
  const dry = () => requestOf('CREATE', mapKind, map(), { dryRun: true })
  const rows: [sideEffects: string | undefined, expected: string][] = [
    ['None', 'admitted'],
    ['NoneOnDryRun', 'admitted'],
    ['Some', '400 admission webhook "a.x.io" does not support dry run'],
    ['Unknown', '400 admission webhook "a.x.io" does not support dry run'],
    [undefined, `500 ${refused}failed calling webhook "a.x.io": Webhook SideEffects is nil`],
  ]
  for (const [sideEffects, expected] of rows) {
    assert.equal(await run(dry(), hook('a', { sideEffects })), expected)
  }
})
