import { authorizer, meterOf } from '#admission/policy/policies.suite.ts'
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import { AdmissionChain } from '#admission/chain.ts'
import type { AdmissionPlugin, AdmissionRequest } from '#admission/admission.ts'
import { kindOf, pod, podKind, requestOf, types } from '#admission/requests.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { backInV1, scaler, v1 } from './autoscaler.fixture.ts'
import { credentialsFrom, nobody, userFor } from './credentials.ts'
import type { DispatchParts, HookCall } from './dispatch.ts'
import { HookClient } from './hook-client.ts'
import { mutatingWebhooks } from './mutating.ts'
import { validatingWebhooks } from './validating.ts'
import { ownPlace, WebhookServer } from './webhook-server.suite.ts'

const group = 'admissionregistration.k8s.io'
const mapKind = kindOf('v1', 'configmaps')
let server: WebhookServer
let reader: MemoryReader
let chain: AdmissionChain
let calls: HookCall[]

let release = 22

const partsWith = (client: HookClient): DispatchParts => ({
  client,
  authorizer: authorizer(false),
  newUid: () => 'a-uid',
  release,
  types,
  skipsReviews: false,
  meter: meterOf(release).meter,
  observe: (call) => calls.push(call),
  report: () => {},
})

async function chainOf(
  client: HookClient,
  others: AdmissionPlugin[] = [],
): Promise<AdmissionChain> {
  const parts = partsWith(client)
  const made = new AdmissionChain(
    [...others, mutatingWebhooks(parts), validatingWebhooks(parts)],
    reader,
  )
  await made.start()
  return made
}

before(async () => {
  server = await WebhookServer.start()
})
after(() => server.stop())
beforeEach(async () => {
  server.received.length = 0
  server.paths.clear()
  calls = []
  release = 22
  reader = new MemoryReader()
  reader.put('', 'namespaces', { metadata: { name: 'ns', labels: { team: 'a' } } })
  chain = await chainOf(new HookClient(nobody, ownPlace))
})

const everything = {
  operations: ['*'],
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: ['*'],
  scope: '*',
}

function hook(name: string, path: string, changes: Loose = {}): Loose {
  return {
    name,
    clientConfig: server.at(path),
    rules: [everything],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 5,
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    ...changes,
  }
}

const install = (type: 'mutating' | 'validating', name: string, ...webhooks: Loose[]) =>
  reader.put(group, `${type}webhookconfigurations`, { metadata: { name }, webhooks })

async function run(request: AdmissionRequest): Promise<string> {
  try {
    await chain.mutate(request)
    await chain.validate(request)
    return 'admitted'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return `${error.code} ${error.reason} ${error.message}`
  }
}

const map = (changes: Loose = {}): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'm', creationTimestamp: null },
  ...changes,
})
const createMap = (changes: Partial<AdmissionRequest> = {}) =>
  requestOf('CREATE', mapKind, map(), changes)
const jsonPatch = (...operations: Loose[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})

test('the request to a webhook', async () => {
  install('validating', 'v', hook('v.x.io', '/v'))
  assert.equal(await run(createMap({ options: { fieldManager: 'me' } })), 'admitted')
  const [{ review, headers }] = server.received
  assert.equal(headers['user-agent'], 'kube-apiserver-admission')
  assert.deepEqual(review, {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: 'a-uid',
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'm',
      namespace: 'ns',
      operation: 'CREATE',
      userInfo: { username: 'admin', groups: ['system:masters'] },
      object: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: 'm', creationTimestamp: null },
      },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' },
    },
  })
})

test('the old object is sent without managedFields; a new Namespace has itself as namespace', async () => {
  install('validating', 'v', hook('v.x.io', '/v'))
  const managedFields = [{ manager: 'm', operation: 'Update' as const }]
  const old = map({ metadata: { name: 'm', uid: 'u', managedFields } })
  const namespaces = kindOf('v1', 'namespaces')
  const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'new' } }
  const rows: [request: AdmissionRequest, namespace: string | undefined, old: Loose | null][] = [
    [requestOf('UPDATE', mapKind, map(), { old }), 'ns', { name: 'm', uid: 'u' }],
    [requestOf('DELETE', mapKind, undefined, { old }), 'ns', old.metadata],
    [requestOf('CREATE', namespaces, namespace), 'new', null],
    [requestOf('UPDATE', kindOf('v1', 'nodes'), { metadata: { name: 'n' } }), undefined, null],
  ]
  for (const [request, inside, shown] of rows) {
    server.received.length = 0
    assert.equal(await run(request), 'admitted')
    const { review } = server.received[0]
    assert.equal(review.request.namespace, inside)
    assert.deepEqual(review.request.oldObject?.metadata ?? null, shown)
  }
  assert.deepEqual(old.metadata.managedFields, managedFields)
})

test('the fields of new objects, by release', async () => {
  const namespaces = kindOf('v1', 'namespaces')
  const rows: [release: number, name: string | undefined, namespace: string | undefined][] = [
    [15, undefined, undefined],
    [16, 'n', undefined],
    [19, 'n', undefined],
    [20, 'n', 'n'],
  ]
  for (const [of, name, namespace] of rows) {
    release = of
    chain = await chainOf(new HookClient(nobody, ownPlace))
    install('validating', 'v', hook('v.x.io', '/v'))
    server.received.length = 0
    const object = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'n' } }
    assert.equal(await run(requestOf('CREATE', namespaces, object)), 'admitted')
    const { request } = server.received[0].review
    assert.deepEqual([request.name, request.namespace], [name, namespace], `1.${of}`)
  }
})

test('messages of kube-apiserver', async () => {
  install('validating', 'v', hook('v.x.io', '/v'))
  const cases: [Loose, string][] = [
    [
      { allowed: false, status: { message: 'no', code: 418, reason: 'Teapot' } },
      '418 Teapot admission webhook "v.x.io" denied the request: no',
    ],
    [
      { allowed: false, status: { reason: 'Because' } },
      '400 Because admission webhook "v.x.io" denied the request: Because',
    ],
    [{ allowed: false }, '400  admission webhook "v.x.io" denied the request without explanation'],
  ]
  for (const [answer, expected] of cases) {
    server.paths.set('/v', () => answer)
    assert.equal(await run(createMap()), expected)
  }
  assert.deepEqual(
    calls.map(({ rejected, errorType, code }) => [rejected, errorType, code]),
    [
      [true, 'no_error', 418],
      [true, 'no_error', 400],
      [true, 'no_error', 400],
    ],
  )
})

test('a patch changes the object in place, with defaults', async () => {
  install('mutating', 'm', hook('m.x.io', '/m'))
  const added = { op: 'add', path: '/spec/containers/-', value: { name: 'side', image: 'car:1' } }
  server.paths.set('/m', () => ({
    ...jsonPatch(added),
    warnings: ['careful'],
    auditAnnotations: { why: 'mesh' },
  }))
  const object = pod()
  const request = requestOf('CREATE', podKind, object)
  assert.equal(await run(request), 'admitted')
  assert.equal(object.spec.containers[1].terminationMessagePath, '/dev/termination-log')
  assert.equal(object.spec.containers[1].imagePullPolicy, 'IfNotPresent')
  assert.deepEqual(request.warnings, ['careful'])
  assert.equal(request.auditAnnotations.get('m.x.io/why'), 'mesh')
  assert.equal(
    request.auditAnnotations.get('mutation.webhook.admission.k8s.io/round_0_index_0'),
    '{"configuration":"m","webhook":"m.x.io","mutated":true}',
  )
})

test('patches that cannot be applied are internal errors', async () => {
  install('mutating', 'm', hook('m.x.io', '/m'))
  server.paths.set('/m', () => jsonPatch({ op: 'remove', path: '/data/missing' }))
  assert.match(await run(createMap()), /^500 InternalError Internal error occurred: /)
  server.paths.set('/m', () => jsonPatch({ op: 'add', path: '/x', value: 1 }))
  const deletion = requestOf('DELETE', mapKind, undefined, { name: 'm', old: map() })
  assert.equal(
    await run(deletion),
    '500 InternalError Internal error occurred: admission webhook "m.x.io" attempted to modify the object, which is not supported for this operation',
  )
})

test('a webhook with reinvocation policy IfNeeded is called again once another changed the object', async () => {
  install(
    'mutating',
    'a',
    hook('a.x.io', '/a', { reinvocationPolicy: 'IfNeeded' }),
    hook('never.x.io', '/never'),
  )
  install('mutating', 'b', hook('b.x.io', '/b'))
  server.paths.set('/b', () =>
    jsonPatch({ op: 'add', path: '/metadata/labels', value: { b: 'was here' } }),
  )
  assert.equal(await run(createMap()), 'admitted')
  assert.deepEqual(
    server.received.map(({ path }) => path),
    ['/a', '/never', '/b', '/a'],
  )
  assert.deepEqual(server.received[3].review.request.object.metadata.labels, { b: 'was here' })
})

test('plugins of the server run again after a webhook changed the object', async () => {
  const seen: (string | undefined)[] = []
  const plugin = {
    name: 'Counting',
    mutate: ({ object }: AdmissionRequest) => void seen.push(object?.metadata.labels?.b),
  }
  chain = await chainOf(new HookClient(nobody, ownPlace), [plugin])
  install('mutating', 'b', hook('b.x.io', '/b'))
  server.paths.set('/b', () =>
    jsonPatch({ op: 'add', path: '/metadata/labels', value: { b: 'c' } }),
  )
  assert.equal(await run(createMap()), 'admitted')
  assert.deepEqual(seen, [undefined, 'c'])
  assert.equal(server.received.length, 1)
})

test('the webhook sees and patches the object in an equivalent version', async () => {
  const object = await scaler()
  const rule = {
    ...everything,
    apiGroups: ['autoscaling'],
    apiVersions: ['v2beta2'],
    resources: ['horizontalpodautoscalers'],
  }
  install(
    'mutating',
    'm',
    hook('m.x.io', '/m', { rules: [rule] }),
    hook('exact.x.io', '/exact', { rules: [rule], matchPolicy: 'Exact' }),
  )
  server.paths.set('/m', () =>
    jsonPatch({
      op: 'replace',
      path: '/spec/metrics/0/resource/target/averageUtilization',
      value: 70,
    }),
  )
  assert.equal(await run(requestOf('CREATE', v1, object)), 'admitted')
  assert.deepEqual(
    server.received.map(({ path }) => path),
    ['/m'],
  )
  const { request } = server.received[0].review
  assert.equal(request.object.apiVersion, 'autoscaling/v2beta2')
  assert.deepEqual([request.kind.version, request.requestKind.version], ['v2beta2', 'v1'])
  const back = await backInV1(object)
  assert.equal(back.spec.targetCPUUtilizationPercentage, 70)
})

test('which requests a webhook intercepts', async () => {
  const rule = (changes: Loose) => ({ rules: [{ ...everything, ...changes }] })
  const cases: [string, Loose, boolean][] = [
    ['another operation', rule({ operations: ['DELETE'] }), false],
    ['another group', rule({ apiGroups: ['apps'] }), false],
    ['another version', { ...rule({ apiVersions: ['v2'] }), matchPolicy: 'Exact' }, false],
    ['another resource', rule({ resources: ['secrets'] }), false],
    ['subresources only', rule({ resources: ['configmaps/*'] }), true],
    ['one subresource', rule({ resources: ['configmaps/status'] }), false],
    ['all and their subresources', rule({ resources: ['*/*'] }), true],
    ['namespaced', rule({ scope: 'Namespaced' }), true],
    ['cluster-wide', rule({ scope: 'Cluster' }), false],
    ['labels of the object', { objectSelector: { matchLabels: { a: 'b' } } }, false],
    ['labels of the namespace', { namespaceSelector: { matchLabels: { team: 'a' } } }, true],
    [
      'other labels of the namespace',
      {
        namespaceSelector: {
          matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['a'] }],
        },
      },
      false,
    ],
  ]
  for (const [name, changes, called] of cases) {
    install('validating', 'v', hook('v.x.io', '/v', changes))
    server.received.length = 0
    assert.equal(await run(createMap()), 'admitted', name)
    assert.equal(server.received.length, called ? 1 : 0, name)
  }
})

test('configurations of webhooks are not sent to webhooks', async () => {
  install('validating', 'v', hook('v.x.io', '/v'))
  install('mutating', 'm', hook('m.x.io', '/m'))
  for (const plural of ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations']) {
    assert.equal(
      await run(requestOf('CREATE', kindOf(`${group}/v1`, plural), { metadata: { name: 'x' } })),
      'admitted',
    )
  }
  assert.equal(server.received.length, 0)
})

const failing = 'Internal error occurred: failed calling webhook "v.x.io": '
const malformed: [name: string, answer: Loose | string, expected: string][] = [
  [
    'another uid',
    { uid: 'other', allowed: true },
    `${failing}expected response.uid="a-uid", got "other"`,
  ],
  [
    'a patch of a validating one',
    { allowed: true, patch: 'W10=' },
    `${failing}validating webhook may not return response.patch`,
  ],
  [
    'no response',
    '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}',
    `${failing}webhook response was absent`,
  ],
  [
    'no kind',
    '{"response":{"uid":"a-uid","allowed":true}}',
    `${failing}expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=`,
  ],
  [
    'a wrong type',
    { allowed: 'yes' },
    `${failing}v1.AdmissionReview.Response: v1.AdmissionResponse.Allowed: ReadBool: expect t or f, but found ", error found in #10 byte of ...|allowed":"yes"}}|..., bigger context ...|n.k8s.io/v1","response":{"uid":"a-uid","allowed":"yes"}}|...`,
  ],
]
for (const [name, answer, expected] of malformed) {
  test(`a malformed answer: ${name}`, async () => {
    server.paths.set('/v', () => answer)
    install('validating', 'v', hook('v.x.io', '/v'))
    assert.equal(await run(createMap()), `500 InternalError ${expected}`)
    install('validating', 'v', hook('v.x.io', '/v', { failurePolicy: 'Ignore' }))
    const request = createMap()
    assert.equal(await run(request), 'admitted')
    assert.equal(
      request.auditAnnotations.get(
        'failed-open.validating.webhook.admission.k8s.io/round_0_index_0',
      ),
      'v.x.io',
    )
  })
}

test('a webhook that does not respond costs only its timeout', async () => {
  server.paths.set('/v', () => 'never')
  install(
    'validating',
    'v',
    hook('v.x.io', '/v', { timeoutSeconds: 0.2 }),
    hook('w.x.io', '/v', { timeoutSeconds: 0.2 }),
  )
  const began = performance.now()
  assert.match(
    await run(createMap()),
    /failed calling webhook "v.x.io": Post "https:\/\/127.0.0.1:\d+\/v\?timeout=1s": context deadline exceeded$/,
  )
  const took = performance.now() - began
  assert.ok(took > 150 && took < 9000, `${took} ms`)
})

test('a webhook that is missing, or has an untrusted authority', async () => {
  install(
    'validating',
    'v',
    hook('v.x.io', '/v', { clientConfig: { url: 'https://127.0.0.1:1/x' } }),
  )
  assert.equal(
    await run(createMap()),
    `500 InternalError ${failing}Post "https://127.0.0.1:1/x?timeout=5s": dial tcp 127.0.0.1:1: connect: connection refused`,
  )
  install('validating', 'v', hook('v.x.io', '/v', { clientConfig: { url: server.at('/v').url } }))
  assert.match(await run(createMap()), /x509: certificate signed by unknown authority$/)
})

test('dry runs reach only webhooks without side effects', async () => {
  install('validating', 'v', hook('v.x.io', '/v', { sideEffects: 'Some', failurePolicy: 'Ignore' }))
  const dryRun = () => createMap({ dryRun: true })
  assert.equal(
    await run(dryRun()),
    '400 BadRequest admission webhook "v.x.io" does not support dry run',
  )
  install('validating', 'v', hook('v.x.io', '/v', { sideEffects: 'NoneOnDryRun' }))
  assert.equal(await run(dryRun()), 'admitted')
  assert.equal(server.received[0].review.request.dryRun, true)
  assert.deepEqual(server.received[0].review.request.options.dryRun, ['All'])
})

test('the older review version, which need not repeat the uid', async () => {
  install(
    'mutating',
    'm',
    hook('m.x.io', '/m', { admissionReviewVersions: ['v2', 'v1beta1', 'v1'] }),
  )
  server.paths.set('/m', () => ({
    uid: '',
    ...jsonPatch({ op: 'add', path: '/data', value: { a: 'b' } }),
    patchType: undefined,
  }))
  const request = createMap()
  assert.equal(await run(request), 'admitted')
  assert.equal(server.received[0].review.apiVersion, 'admission.k8s.io/v1beta1')
  assert.deepEqual(request.object?.data, { a: 'b' })
})

test('a service is called at its endpoint, under its own name', async () => {
  reader.put('', 'services', {
    metadata: { name: 'hook', namespace: 'ns' },
    spec: { clusterIP: '10.0.0.9', ports: [{ name: 'https', port: 443 }] },
  })
  const clientConfig = {
    service: { namespace: 'ns', name: 'hook', path: '/v' },
    caBundle: server.caBundle,
  }
  install('validating', 'v', hook('v.x.io', '/v', { clientConfig }))
  assert.equal(
    await run(createMap()),
    `500 InternalError ${failing}Post "https://hook.ns.svc:443/v?timeout=5s": no endpoints available for service "hook"`,
  )
  reader.put('', 'endpoints', {
    metadata: { name: 'hook', namespace: 'ns' },
    subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ name: 'https', port: server.port }] }],
  })
  assert.equal(await run(createMap()), 'admitted')
  assert.equal(server.received[0].headers.host, 'hook.ns.svc:443')
})

test('connections are kept', async () => {
  install('validating', 'v', hook('v.x.io', '/v'))
  const before = server.connections
  for (let i = 0; i < 5; i++) assert.equal(await run(createMap()), 'admitted')
  assert.ok(server.connections - before <= 1)
})

test('a removed configuration is not called any more', async () => {
  install('validating', 'v', hook('v.x.io', '/v'))
  reader.remove(group, 'validatingwebhookconfigurations', '', 'v')
  assert.equal(chain.plugins[1].validate?.(createMap(), reader), undefined)
})

test('credentials by host name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hooks-'))
  const file = join(folder, 'kubeconfig')
  writeFileSync(
    file,
    JSON.stringify({
      users: [
        { name: '127.0.0.1:*', user: { token: 'wrong' } },
        { name: `127.0.0.1:${server.port}`, user: { token: 'secret' } },
        { name: '*.svc', user: { username: 'u', password: 'p' } },
      ],
    }),
  )
  const users = await credentialsFrom({
    kind: 'WebhookAdmissionConfiguration',
    apiVersion: 'apiserver.config.k8s.io/v1',
    kubeConfigFile: file,
  })
  assert.equal(userFor(users, 'hook.ns.svc:443')?.().authorization, 'Basic dTpw')
  assert.equal(userFor(users, 'elsewhere:443'), undefined)
  chain = await chainOf(new HookClient(users, ownPlace))
  install('validating', 'v', hook('v.x.io', '/v'))
  assert.equal(await run(createMap()), 'admitted')
  assert.equal(server.received[0].headers.authorization, 'Bearer secret')
  await assert.rejects(
    credentialsFrom({
      kind: 'WebhookAdmissionConfiguration',
      apiVersion: 'apiserver.config.k8s.io/v1',
      kubeConfigFile: 'x',
    }),
    /must be an absolute file path/,
  )
})
