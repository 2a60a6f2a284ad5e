/**
 * What a request meets in older releases: parameters, preconditions, health and words that changed
 * since.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ReleaseServers } from './release-servers.fixture.ts'
import type { Answer, RunningServer } from './running-server.ts'

const servers = new ReleaseServers()
const serverOf = servers.of
after(() => servers.stop())

const inDefault = '/api/v1/namespaces/default'
const told = ({ status, body }: Answer): string => `${status} ${body?.reason ?? body?.kind ?? ''}`
let names = 0

async function created(server: RunningServer, plural: string, object: object): Promise<Answer> {
  const name = `o${names++}`
  const { metadata, ...rest } = object as { metadata?: object }
  const made = await server.ask('POST', `${inDefault}/${plural}`, {
    metadata: { ...metadata, name },
    ...rest,
  })
  assert.equal(made.status, 201, made.text)
  return made
}

const pod = {
  spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] },
}
const deletions: [
  release: number,
  what: string,
  plural: string,
  object: object,
  options: object,
  expected: string,
  then: number,
][] = [
  [22, 'that marks and removes', 'pods', pod, { gracePeriodSeconds: 0 }, '200 Pod', 404],
  [15, 'that marks and removes', 'pods', pod, { gracePeriodSeconds: 0 }, '409 Conflict', 200],
  ...[22, 21]
    .map(
      (release) =>
        [
          release,
          'that drops the last finalizer',
          'configmaps',
          { metadata: { finalizers: ['orphan'] } },
          { propagationPolicy: 'Background' },
          '409 Conflict',
          200,
        ] as const,
    )
    .map((row) => [...row] as (typeof deletions)[number]),
  [
    15,
    'that drops the last finalizer',
    'configmaps',
    { metadata: { finalizers: ['orphan'] } },
    { propagationPolicy: 'Background' },
    '200 Status',
    404,
  ],
  [
    22,
    'that would drop the last finalizer',
    'configmaps',
    { metadata: { finalizers: ['orphan'] } },
    { propagationPolicy: 'Background', dryRun: ['All'] },
    '200 ConfigMap',
    200,
  ],
]
for (const [release, what, plural, object, options, expected, then] of deletions) {
  test(`1.${release}: a deletion of a version ${what}`, async () => {
    const server = await serverOf(release)
    const { metadata } = (await created(server, plural, object)).body
    const path = `${inDefault}/${plural}/${metadata.name}`
    const { resourceVersion } = metadata
    const body = { ...options, preconditions: { resourceVersion } }
    assert.equal(told(await server.ask('DELETE', path, body)), expected)
    assert.equal((await server.ask('GET', path)).status, then)
  })
}

test('1.18 and later compare with the version of an object that was never written', async () => {
  const server = await serverOf(22)
  const { metadata } = (
    await created(server, 'secrets', { metadata: { finalizers: ['foregroundDeletion'] } })
  ).body
  const { message } = (
    await server.ask('DELETE', `${inDefault}/secrets/${metadata.name}`, {
      propagationPolicy: 'Background',
      preconditions: { resourceVersion: metadata.resourceVersion },
    })
  ).body
  assert.match(
    message,
    /Precondition failed: ResourceVersion in precondition: , ResourceVersion in object meta: \d+$/,
  )
})

const exports: [plural: string, object: object, query: string, expected: object][] = [
  [
    'configmaps',
    { data: { a: '1' } },
    '',
    { metadata: { creationTimestamp: null }, data: { a: '1' } },
  ],
  [
    'configmaps',
    {},
    '&exact=true',
    { metadata: { creationTimestamp: null, namespace: 'default' } },
  ],
  [
    'services',
    { spec: { type: 'NodePort', ports: [{ port: 80 }] } },
    '',
    {
      metadata: { creationTimestamp: null },
      spec: {
        type: 'NodePort',
        ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
        sessionAffinity: 'None',
        externalTrafficPolicy: 'Cluster',
      },
      status: { loadBalancer: {} },
    },
  ],
]
for (const [plural, object, query, expected] of exports) {
  test(`1.15: ${plural}?export=true${query} forgets what the cluster added`, async () => {
    const server = await serverOf(15)
    const { name } = (await created(server, plural, object)).body.metadata
    const path = `${inDefault}/${plural}/${name}?export=true${query}`
    const { status, body } = await server.ask('GET', path)
    const { kind: _kind, apiVersion: _version, ...rest } = body
    const { name: shown, selfLink: _link, ...metadata } = rest.metadata
    assert.equal(status, 200)
    assert.equal(shown, name)
    assert.deepEqual({ ...rest, metadata }, expected)
  })
}

test('1.15: an exported node has in its status what is always there', async () => {
  const server = await serverOf(15)
  const node = { metadata: { name: 'exported' }, status: { phase: 'Running' } }
  await server.ask('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', ...node })
  const { body } = await server.ask('GET', '/api/v1/nodes/exported?export=true')
  assert.deepEqual(Object.keys(body.status).sort(), ['daemonEndpoints', 'nodeInfo'])
  assert.equal(body.status.nodeInfo.machineID, '')
})

const template = { metadata: { labels: { a: 'b' } }, spec: pod.spec }
const jsonPatch = 'application/json-patch+json'
const mergePatch = 'application/merge-patch+json'
const rows: [
  releases: readonly number[],
  method: string,
  path: string,
  body: unknown,
  type: string,
  expected: RegExp,
][] = [
  [[15], 'GET', '/livez/ping', undefined, '', /^404/],
  [[22], 'GET', '/livez/ping', undefined, '', /^200/],
  [[15], 'GET', '/healthz?verbose', undefined, '', /ca-registration ok\n.*admission-initializer/],
  [[22], 'GET', '/healthz?verbose', undefined, '', /log ok\n.*etcd ok\n.*admission-initializer/],
  [[15, 22], 'GET', '/readyz', undefined, '', /^200 ok$/],
  [[21, 22], 'GET', `${inDefault}?export=true`, undefined, '', /^400 .*no longer supported/],
  [
    [15],
    'GET',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/view?export=true',
    undefined,
    '',
    /^400 .*export of \\"clusterroles\\" is not supported/,
  ],
  [[15], 'GET', `${inDefault}/secrets/none?export=true`, undefined, '', /^404 /],
  [
    [15],
    'GET',
    `${inDefault}/pods?continue=x&resourceVersion=1.5`,
    undefined,
    '',
    /continue token/,
  ],
  [
    [22],
    'GET',
    `${inDefault}/pods?continue=x&resourceVersion=1.5`,
    undefined,
    '',
    /invalid resource version/,
  ],
  [
    [15],
    'POST',
    `${inDefault}/podtemplates`,
    { template: { metadata: { managedFields: [{ fields: { 'f:a': 1 } }] } } },
    '',
    /^400 .*v1\.ManagedFieldsEntry\.Fields: unmarshalerDecoder: json: cannot unmarshal number into Go value of type map\[string\]v1\.Fields, /,
  ],
  [[15], 'GET', `${inDefault}/pods?resourceVersion=999999`, undefined, '', /^504 (?!.*causes)/],
  [[22], 'GET', `${inDefault}/pods?resourceVersion=999999`, undefined, '', /^504 .*causes/],
  [
    [15],
    'POST',
    `${inDefault}/secrets?fieldManager=${'x'.repeat(200)}`,
    {},
    '',
    /must have at most 128 characters/,
  ],
  [
    [22],
    'POST',
    `${inDefault}/secrets?fieldManager=${'x'.repeat(200)}`,
    {},
    '',
    /must have at most 128 bytes/,
  ],
  [
    [15],
    'PATCH',
    '/api/v1/namespaces/default',
    { metadata: { labels: 1 } },
    mergePatch,
    /^500 (?!.*reason).*v1\.ObjectMeta/s,
  ],
  [[22], 'PATCH', '/api/v1/namespaces/default', { metadata: { labels: 1 } }, mergePatch, /^422 /],
  [[15], 'PATCH', '/api/v1/namespaces/default', ['a'], jsonPatch, /type jsonpatch\.operation/],
  [[22], 'PATCH', '/api/v1/namespaces/default', ['a'], jsonPatch, /type jsonpatch\.Operation/],
  [
    [15, 22],
    'DELETE',
    `${inDefault}/podtemplates`,
    { kind: 'DeleteOptions', apiVersion: 'apps/v9' },
    'application/json',
    /^500 .*no kind .*DeleteOptions.* is registered for version .*apps\/v9/,
  ],
  [
    [22],
    'DELETE',
    `${inDefault}/podtemplates`,
    { kind: 'ConfigMap', apiVersion: 'v1', data: 1 },
    'application/json',
    /^500 .*ReadMapCB: expect \{ or n, but found 1/,
  ],
  [
    [22],
    'DELETE',
    `${inDefault}/podtemplates`,
    { kind: 'DeleteOptions', apiVersion: 'apps/__internal' },
    'application/json',
    /^500 .* is registered for the internal version of group .*apps/,
  ],
  [
    [22],
    'DELETE',
    `${inDefault}/podtemplates`,
    { kind: 'DeleteOptions', apiVersion: 'extensions/v1beta1' },
    'application/json',
    /^200 /,
  ],
  [
    [15],
    'POST',
    '/apis/storage.k8s.io/v1beta1/csidrivers',
    { metadata: {} },
    '',
    /^422 .*"causes":\[\{"reason":"FieldValueRequired","message":"Required value","field":"name"\}/,
  ],
  [
    [22],
    'POST',
    '/apis/storage.k8s.io/v1/csidrivers',
    { metadata: {} },
    '',
    /^422 .*"field":"metadata.name"/,
  ],
]
for (const [releases, method, path, body, type, expected] of rows) {
  for (const release of releases) {
    test(`1.${release}: ${method} ${path.slice(0, 60)} is answered ${expected}`, async () => {
      const server = await serverOf(release)
      const headers = type === '' ? undefined : { 'content-type': type }
      const { status, text } = await server.ask(method, path, body, headers)
      assert.match(`${status} ${text}`, expected)
    })
  }
}

const counter = { metadata: { annotations: { 'deprecated.daemonset.template.generation': 'x' } } }
const unread = 'strconv.ParseInt: parsing \\\\"x\\\\": invalid syntax'
const whole = { apiVersion: 'apps/v1', kind: 'DaemonSet', ...counter }
const numbers: [release: number, method: string, type: string, body: object, expected: string][] = [
  [22, 'PATCH', mergePatch, counter, `^422 .*: ${unread}`],
  [15, 'PATCH', mergePatch, counter, `^500 .*"${unread}"`],
  [22, 'PATCH', 'application/strategic-merge-patch+json', counter, `^500 .*"${unread}"`],
  [
    22,
    'PATCH',
    'application/apply-patch+yaml',
    whole,
    `^500 .*"failed to convert to unversioned: ${unread}"`,
  ],
  [22, 'PUT', 'application/json', whole, `^400 .* cannot be handled as a DaemonSet: ${unread}`],
]
for (const [release, method, type, body, expected] of numbers) {
  test(`1.${release}: ${method} of an annotation that is no number, as ${type}`, async () => {
    const server = await serverOf(release)
    const path = '/apis/apps/v1/namespaces/default/daemonsets'
    const spec = { selector: { matchLabels: { a: 'b' } }, template }
    await server.ask('POST', path, { metadata: { name: 'd' }, spec })
    for (const where of ['d', 'd/status']) {
      const { status, text } = await server.ask(
        method,
        `${path}/${where}?${type.includes('apply') ? 'fieldManager=m&force=true' : ''}`,
        body,
        { 'content-type': type },
      )
      assert.match(`${status} ${text}`, new RegExp(expected), where)
    }
  })
}

test('1.15: an exported workload has the status of a new one', async () => {
  const server = await serverOf(15)
  const path = '/apis/apps/v1/namespaces/default/deployments'
  const spec = { selector: { matchLabels: { a: 'b' } }, template }
  await server.ask('POST', path, { metadata: { name: 'd' }, spec })
  const { body } = await server.ask('GET', `${path}/d?export=true`)
  assert.deepEqual([body.metadata.generation, body.status], [1, {}])
})

test('before 1.22 only what goes to the audit log is named', async () => {
  for (const [release, named] of [
    [15, false],
    [21, false],
    [22, true],
  ] as const) {
    const { headers } = await (await serverOf(release)).raw('GET', '/api/v1/namespaces/default')
    assert.equal(headers['audit-id'] !== undefined, named, `1.${release}`)
  }
})

test('before 1.17 an empty parameter counts', async () => {
  for (const [release, wanted] of [
    [15, 406],
    [16, 406],
    [17, 200],
    [22, 200],
  ] as const) {
    const server = await serverOf(release)
    const headers = { accept: 'application/json;as=' }
    for (const path of ['/api/v1/namespaces/default', '/api/v1', '/apis']) {
      const { status } = await server.ask('GET', path, undefined, headers)
      assert.equal(status, wanted, `1.${release} ${path}`)
    }
  }
})
