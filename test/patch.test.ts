/**
 * Patches of every type over the wire: each operation and directive, with inputs that are odd. A
 * row is a patch and kube-apiserver's response to it, an object's parts or the code and words of a
 * refusal. All are dry runs of the same two objects.
 */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { say } from './conversation.fixture.ts'
import { type RunningServer, startServer } from './running-server.ts'

let server: RunningServer
const maps = '/api/v1/namespaces/default/configmaps'
const sets = '/apis/apps/v1/namespaces/default/deployments'
const services = '/api/v1/namespaces/default/services'
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'

before(async () => {
  server = await startServer(['--controllers=-*'])
  const map = { metadata: { name: 'rows', labels: { 'x/y': 'z' } }, data: { a: '1', b: '2' } }
  assert.equal((await server.ask('POST', maps, map)).status, 201)
  const template = {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  }
  const set = {
    metadata: { name: 'rows' },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
  }
  assert.equal((await server.ask('POST', sets, set)).status, 201)
  const service = { metadata: { name: 'rows' }, spec: { ports: [{ port: 80 }] } }
  assert.equal((await server.ask('POST', services, service)).status, 201)
  const budget = { metadata: { name: 'rows' }, spec: { minAvailable: 1, selector: {} } }
  assert.equal((await server.ask('POST', budgets, budget)).status, 201)
  const text = { type: 'string' }
  const item = { type: 'object', properties: { n: text } }
  const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const spec = { type: 'object', properties: { a: text, l: { type: 'array', items: item }, free } }
  const openAPIV3Schema = { type: 'object', properties: { spec } }
  const gears = {
    metadata: { name: 'gears.x.io' },
    spec: {
      group: 'x.io',
      scope: 'Namespaced',
      names: { plural: 'gears', kind: 'Gear' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  assert.equal((await server.ask('POST', definitions, gears)).status, 201)
})
after(() => server.stop())

type Row = [how: 'json' | 'merge' | 'strategic', patch: unknown, says: unknown]

/** Of a ConfigMap { a: 1, b: 2 } with one label. */
const mapRows: Row[] = [
  [
    'json',
    [{ op: 'add', path: '/data/c', value: '3' }],
    { data: { a: '1', b: '2', c: '3' }, labels: { 'x/y': 'z' } },
  ],
  ['json', [{ op: 'remove', path: '/data/a' }], { data: { b: '2' }, labels: { 'x/y': 'z' } }],
  [
    'json',
    [{ op: 'replace', path: '/data/a', value: '9' }],
    { data: { a: '9', b: '2' }, labels: { 'x/y': 'z' } },
  ],
  [
    'json',
    [{ op: 'move', from: '/data/a', path: '/data/m' }],
    { data: { b: '2', m: '1' }, labels: { 'x/y': 'z' } },
  ],
  [
    'json',
    [{ op: 'copy', from: '/data/a', path: '/data/m' }],
    { data: { a: '1', b: '2', m: '1' }, labels: { 'x/y': 'z' } },
  ],
  [
    'json',
    [{ op: 'test', path: '/data/a', value: '1' }],
    { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' } },
  ],
  [
    'json',
    [{ op: 'test', path: '/data/a', value: '2' }],
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    [{ op: 'test', path: '/data/none', value: null }],
    { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' } },
  ],
  [
    'json',
    [{ op: 'test', path: '/data/a' }],
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    [{ op: 'remove', path: '/data/none' }],
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    [{ op: 'replace', path: '/data/none', value: '1' }],
    { data: { a: '1', b: '2', none: '1' }, labels: { 'x/y': 'z' } },
  ],
  [
    'json',
    [{ op: 'replace', path: '/none/x', value: '1' }],
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    [{ op: 'add', path: '/none/x', value: '1' }],
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    [{ op: 'move', from: '/data/none', path: '/data/m' }],
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    [{ op: 'copy', from: '/data/none', path: '/data/m' }],
    { data: { a: '1', b: '2', m: '' }, labels: { 'x/y': 'z' } },
  ],
  [
    'json',
    [{ op: 'copy', from: '/none/none', path: '/data/m' }],
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    [{ op: 'frob', path: '/data/a' }],
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    [{ path: '/data/a' }],
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    [{ op: 'add', value: '1' }],
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    [{ op: 'add', path: 'data/a', value: '1' }],
    { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' } },
  ],
  [
    'json',
    [{ op: 'add', path: '', value: {} }],
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    [{ op: 'replace', path: '/metadata/labels/x~1y', value: 'w' }],
    { data: { a: '1', b: '2' }, labels: { 'x/y': 'w' } },
  ],
  [
    'json',
    [{ op: 'add', path: '/metadata/labels/a~0b', value: 'w' }],
    "422 ConfigMap \"rows\" is invalid: metadata.labels: Invalid value: \"a~b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
  [
    'json',
    [{ op: 'add', path: '/data/__proto__', value: 'w' }],
    { data: { ['__proto__']: 'w', a: '1', b: '2' }, labels: { 'x/y': 'z' } },
  ],
  [
    'json',
    [
      { op: 'add', path: '/metadata/finalizers', value: ['a/b', 'c/d'] },
      { op: 'add', path: '/metadata/finalizers/-', value: 'e/f' },
    ],
    { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' }, finalizers: ['a/b', 'c/d', 'e/f'] },
  ],
  [
    'json',
    [
      { op: 'add', path: '/metadata/finalizers', value: ['a/b', 'c/d'] },
      { op: 'add', path: '/metadata/finalizers/0', value: 'e/f' },
    ],
    { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' }, finalizers: ['e/f', 'a/b', 'c/d'] },
  ],
  [
    'json',
    [
      { op: 'add', path: '/metadata/finalizers', value: ['a/b', 'c/d'] },
      { op: 'add', path: '/metadata/finalizers/-1', value: 'e/f' },
    ],
    { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' }, finalizers: ['a/b', 'c/d', 'e/f'] },
  ],
  [
    'json',
    [
      { op: 'add', path: '/metadata/finalizers', value: ['a/b', 'c/d'] },
      { op: 'remove', path: '/metadata/finalizers/-1' },
    ],
    { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' }, finalizers: ['a/b'] },
  ],
  [
    'json',
    [
      { op: 'add', path: '/metadata/finalizers', value: ['a/b', 'c/d'] },
      { op: 'remove', path: '/metadata/finalizers/2' },
    ],
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    [
      { op: 'add', path: '/metadata/finalizers', value: ['a/b', 'c/d'] },
      { op: 'add', path: '/metadata/finalizers/9', value: 'e/f' },
    ],
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    [
      { op: 'add', path: '/metadata/finalizers', value: ['a/b', 'c/d'] },
      { op: 'add', path: '/metadata/finalizers/x', value: 'e/f' },
    ],
    '422 the server rejected our request due to an error in our request',
  ],
  [
    'json',
    [{ op: 'add', path: '/data/n', value: null }],
    { data: { a: '1', b: '2', n: '' }, labels: { 'x/y': 'z' } },
  ],
  ['json', [{ op: 'add', path: '/data', value: null }], { labels: { 'x/y': 'z' } }],
  ['json', {}, '400 json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
  ['json', 'x', '400 json: cannot unmarshal string into Go value of type jsonpatch.Patch'],
  ['json', null, { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' } }],
  ['json', [], { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' } }],
  ['json', [null], '422 the server rejected our request due to an error in our request'],
  ['json', [1], '400 json: cannot unmarshal number into Go value of type jsonpatch.Operation'],
  [
    'json',
    [{ op: 'replace', path: '/metadata/name', value: 'other' }],
    '400 the name of the object (other) does not match the name on the URL (rows)',
  ],
  [
    'json',
    [{ op: 'replace', path: '/metadata/namespace', value: 'other' }],
    '400 the namespace of the object (other) does not match the namespace on the request (default)',
  ],
  [
    'json',
    [{ op: 'replace', path: '/metadata/uid', value: 'other' }],
    '422 ConfigMap "rows" is invalid: metadata.uid: Invalid value: "other": field is immutable',
  ],
  ['json', [{ op: 'remove', path: '/kind' }], { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' } }],
  [
    'json',
    [{ op: 'remove', path: '/apiVersion' }],
    '400 the name of the object (rows based on URL) was undeterminable: name must be provided',
  ],
  [
    'json',
    [{ op: 'remove', path: '/metadata/name' }],
    '400 the name of the object (rows based on URL) was undeterminable: name must be provided',
  ],
  [
    'json',
    [{ op: 'remove', path: '/metadata/namespace' }],
    { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' } },
  ],
  [
    'json',
    [{ op: 'remove', path: '/metadata/uid' }],
    { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' } },
  ],
  [
    'json',
    [{ op: 'add', path: '/metadata/resourceVersion', value: '1' }],
    '409 Operation cannot be fulfilled on configmaps "rows": the object has been modified; please apply your changes to the latest version and try again',
  ],
  ['merge', { data: { a: null } }, { data: { b: '2' }, labels: { 'x/y': 'z' } }],
  ['merge', { data: null }, { labels: { 'x/y': 'z' } }],
  [
    'merge',
    { data: { a: { b: 1 } } },
    '422  "" is invalid: patch: Invalid value: <whole>: <where>',
  ],
  [
    'merge',
    [],
    '422  "" is invalid: patch: Invalid value: "[]": couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  ],
  ['merge', null, '500 Invalid JSON Patch'],
  [
    'merge',
    { metadata: { name: 'x' } },
    '400 the name of the object (x) does not match the name on the URL (rows)',
  ],
  ['merge', { metadata: { labels: { 'x/y': null, n: null } } }, { data: { a: '1', b: '2' } }],
  ['merge', { data: [] }, '422  "" is invalid: patch: Invalid value: <whole>: <where>'],
  ['merge', { kind: null }, { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' } }],
  [
    'merge',
    { apiVersion: null },
    '400 the name of the object (rows based on URL) was undeterminable: name must be provided',
  ],
  [
    'strategic',
    { data: { a: null, c: '3' } },
    { data: { b: '2', c: '3' }, labels: { 'x/y': 'z' } },
  ],
  [
    'strategic',
    { data: { $patch: 'replace', c: '3' } },
    { data: { c: '3' }, labels: { 'x/y': 'z' } },
  ],
  ['strategic', { data: { $patch: 'delete' } }, { labels: { 'x/y': 'z' } }],
  [
    'strategic',
    { data: { $patch: 'frob' } },
    '500 unknown patch type: frob in map: map[$patch:frob]',
  ],
  [
    'strategic',
    { data: { $patch: 1 } },
    '500 unknown patch type: %!s(int64=1) in map: map[$patch:1]',
  ],
  [
    'strategic',
    { $patch: 'delete' },
    '400 the name of the object (rows based on URL) was undeterminable: name must be provided',
  ],
  [
    'strategic',
    { $retainKeys: ['data', 'metadata'], data: { c: '3' } },
    { data: { a: '1', b: '2', c: '3' }, labels: { 'x/y': 'z' } },
  ],
  [
    'strategic',
    { $retainKeys: ['metadata'], data: { c: '3' } },
    '400 invalid patch format of retainKeys',
  ],
  ['strategic', { $retainKeys: 'data' }, '400 invalid patch format of retainKeys'],
  [
    'strategic',
    { metadata: { finalizers: ['a/b', 'c/d'], '$setElementOrder/finalizers': ['c/d', 'a/b'] } },
    "500 The order in patch list:\n[a/b c/d]\n doesn't match $setElementOrder list:\n[c/d a/b]\n",
  ],
  [
    'strategic',
    { metadata: { finalizers: ['a/b', 'c/d'], '$setElementOrder/finalizers': ['a/b', 'c/d'] } },
    { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' }, finalizers: ['a/b', 'c/d'] },
  ],
  [
    'strategic',
    { metadata: { finalizers: ['a/b', 'c/d'], '$setElementOrder/finalizers': [] } },
    { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' }, finalizers: ['c/d', 'a/b'] },
  ],
  [
    'strategic',
    { metadata: { '$setElementOrder/finalizers': 'x' } },
    '500 expected a []interface {}, but received a string',
  ],
  [
    'strategic',
    { metadata: { $setElementOrder: [] } },
    '400 invalid patch format of setElementOrder list',
  ],
  [
    'strategic',
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['a/b'] } },
    { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' }, finalizers: ['a/b'] },
  ],
  [
    'strategic',
    { metadata: { $deleteFromPrimitiveList: ['a/b'] } },
    '400 invalid patch format of primitive list',
  ],
  [
    'strategic',
    { metadata: { ownerReferences: [{ name: 'a' }] } },
    '422 ConfigMap "rows" is invalid: [metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty, metadata.ownerReferences.kind: Invalid value: "": kind must not be empty, metadata.ownerReferences.uid: Invalid value: "": uid must not be empty]',
  ],
  [
    'strategic',
    [],
    '400 json: cannot unmarshal array into Go value of type map[string]interface {}',
  ],
  ['strategic', null, { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' } }],
  ['strategic', { none: { a: 1 } }, { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' } }],
  [
    'strategic',
    { data: 1 },
    '422  "" is invalid: patch: Invalid value: "map[data:1]": cannot restore map from int64',
  ],
  [
    'strategic',
    { metadata: { labels: ['a'] } },
    '422  "" is invalid: patch: Invalid value: "map[metadata:map[labels:[a]]]": cannot restore map from slice',
  ],
  [
    'strategic',
    { metadata: { name: 'x' } },
    '400 the name of the object (x) does not match the name on the URL (rows)',
  ],
  [
    'strategic',
    { apiVersion: 'v2', kind: 'X' },
    { data: { a: '1', b: '2' }, labels: { 'x/y': 'z' } },
  ],
]

/** Of a Deployment with one container. */
const setRows: Row[] = [
  [
    'strategic',
    { spec: { template: { spec: { containers: [{ name: 'c', image: 'j' }] } } } },
    { replicas: 1, strategy: 'RollingUpdate', containers: ['c j'] },
  ],
  [
    'strategic',
    { spec: { template: { spec: { containers: [{ name: 'd', image: 'j' }] } } } },
    { replicas: 1, strategy: 'RollingUpdate', containers: ['d j', 'c i'] },
  ],
  [
    'strategic',
    { spec: { template: { spec: { containers: [{ image: 'j' }] } } } },
    '500 map: map[image:j] does not contain declared merge key: name',
  ],
  [
    'strategic',
    {
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'c', $patch: 'delete' },
              { name: 'd', image: 'j' },
            ],
          },
        },
      },
    },
    { replicas: 1, strategy: 'RollingUpdate', containers: ['d j'] },
  ],
  [
    'strategic',
    {
      spec: {
        template: { spec: { containers: [{ $patch: 'replace' }, { name: 'd', image: 'j' }] } },
      },
    },
    { replicas: 1, strategy: 'RollingUpdate', containers: ['d j'] },
  ],
  [
    'strategic',
    { spec: { template: { spec: { containers: [{ name: 'c', $patch: 'merge' }] } } } },
    '500 merging lists cannot yet be specified in the patch',
  ],
  [
    'strategic',
    { spec: { template: { spec: { containers: [{ name: 'c', $patch: 'frob' }] } } } },
    '500 unknown patch type: frob in map: map[$patch:frob name:c]',
  ],
  [
    'strategic',
    { spec: { template: { spec: { containers: [{ $patch: 'delete' }] } } } },
    '500 map: map[$patch:delete] does not contain declared merge key: name',
  ],
  [
    'strategic',
    {
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'd', image: 'j' },
              { name: 'd', image: 'k' },
            ],
          },
        },
      },
    },
    { replicas: 1, strategy: 'RollingUpdate', containers: ['d k', 'c i'] },
  ],
  [
    'strategic',
    { spec: { template: { spec: { containers: [1] } } } },
    '500 list element types are not identical: [[map[image:i imagePullPolicy:Always name:c resources:map[] terminationMessagePath:/dev/termination-log terminationMessagePolicy:File]] [1]]',
  ],
  [
    'strategic',
    { spec: { template: { spec: { containers: [[1]] } } } },
    '500 list element types are not identical: [[map[image:i imagePullPolicy:Always name:c resources:map[] terminationMessagePath:/dev/termination-log terminationMessagePolicy:File]] [[1]]]',
  ],
  [
    'strategic',
    { spec: { template: { spec: { containers: 'x' } } } },
    '422  "" is invalid: patch: Invalid value: "map[spec:map[template:map[spec:map[containers:x]]]]": cannot restore slice from string',
  ],
  [
    'strategic',
    { spec: { template: { spec: { containers: [{ name: 'c', args: ['x'] }] } } } },
    { replicas: 1, strategy: 'RollingUpdate', containers: ['c i x'] },
  ],
  [
    'strategic',
    {
      spec: {
        template: {
          spec: {
            '$setElementOrder/containers': [{ name: 'd' }, { name: 'c' }],
            containers: [{ name: 'd', image: 'j' }],
          },
        },
      },
    },
    { replicas: 1, strategy: 'RollingUpdate', containers: ['d j', 'c i'] },
  ],
  [
    'strategic',
    {
      spec: {
        template: {
          spec: {
            '$setElementOrder/containers': [{ name: 'c' }, { name: 'd' }],
            containers: [
              { name: 'd', image: 'j' },
              { name: 'c', image: 'k' },
            ],
          },
        },
      },
    },
    "500 The order in patch list:\n[map[image:j name:d] map[image:k name:c]]\n doesn't match $setElementOrder list:\n[map[name:c] map[name:d]]\n",
  ],
  [
    'strategic',
    {
      spec: {
        template: {
          spec: { '$setElementOrder/containers': [1], containers: [{ name: 'd', image: 'j' }] },
        },
      },
    },
    '500 expected a map[string]interface {}, but received a int64',
  ],
  [
    'strategic',
    { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
    { replicas: 1, strategy: 'Recreate', containers: ['c i'] },
  ],
  [
    'strategic',
    { spec: { strategy: { $retainKeys: ['rollingUpdate'], type: 'Recreate' } } },
    '400 invalid patch format of retainKeys',
  ],
  [
    'strategic',
    { spec: { replicas: null } },
    { replicas: 1, strategy: 'RollingUpdate', containers: ['c i'] },
  ],
  [
    'strategic',
    { spec: { replicas: '3' } },
    '422  "" is invalid: patch: Invalid value: "map[spec:map[replicas:3]]": unrecognized type: int32',
  ],
  [
    'strategic',
    { spec: { selector: { matchLabels: { x: 'y' } } } },
    '422 Deployment.apps "rows" is invalid: [spec.template.metadata.labels: Invalid value: map[string]string{"a":"b"}: `selector` does not match template `labels`, spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"a":"b", "x":"y"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable]',
  ],
  [
    'strategic',
    {
      spec: {
        template: {
          spec: { volumes: [{ name: 'v', emptyDir: {}, $retainKeys: ['name', 'emptyDir'] }] },
        },
      },
    },
    {
      replicas: 1,
      strategy: 'RollingUpdate',
      containers: ['c i'],
      volumes: [{ name: 'v', emptyDir: {} }],
    },
  ],
]

/**
 * What counts of an answer: the words of a refusal, or the parts that patches are about. Parts that
 * are absent go.
 */
// biome-ignore lint/suspicious/noExplicitAny: answers are JSON of any shape
function said({ status, body }: { status: number; body: any }): unknown {
  if (body.kind === 'Status') {
    const words = body.message.replace(/"\{.*\}":/s, '<whole>:')
    return `${status} ${words.replace(/: v1\.ConfigMap\..*/s, ': <where>').replace(/StorageError.*/s, '')}`
  }
  if (body.kind === 'ConfigMap') {
    const { labels, finalizers } = body.metadata
    return JSON.parse(JSON.stringify({ data: body.data, labels, finalizers }))
  }
  const { replicas, strategy, template } = body.spec
  const { containers, volumes } = template.spec
  const names = containers.map(({ name, image, args = [] }: Container) =>
    [name, image, ...args].join(' '),
  )
  return JSON.parse(
    JSON.stringify({ replicas, strategy: strategy.type, containers: names, volumes }),
  )
}
interface Container {
  readonly name: string
  readonly image: string
  readonly args?: readonly string[]
}

for (const [rows, collection] of [
  [mapRows, maps],
  [setRows, sets],
] as const) {
  for (const [method, body, says] of rows) {
    test(`${method} ${JSON.stringify(body)}`, async () => {
      const path = `${collection}/rows`
      assert.deepEqual(said(await say(server, { method, path, body, query: 'dryRun=All' })), says)
    })
  }
}

/** Patches of other places: which, of what type, and the expected response. */
type Elsewhere = [path: string, how: Row[0], patch: unknown, status: number, tells: RegExp]
const elsewhere: Elsewhere[] = [
  [
    `${services}/rows`,
    'merge',
    { metadata: { resourceVersion: null } },
    422,
    /must be specified for an update/,
  ],
  [
    `${services}/rows/status`,
    'merge',
    { metadata: { resourceVersion: null } },
    200,
    /"kind":"Service"/,
  ],
  [`${maps}/rows`, 'merge', { metadata: { selfLink: 'x' } }, 200, /"selfLink":"x"/],
  [
    `${maps}/rows`,
    'strategic',
    { metadata: { deletionTimestamp: '2020-01-02T03:04:05.120Z' } },
    422,
    /Invalid value: 2020-01-02 03:04:05\.12 \+0000 UTC: field is immutable/,
  ],
  [`${sets}/rows/scale`, 'merge', { spec: { replicas: 3 } }, 200, /"spec":\{"replicas":3\}/],
  [`${sets}/rows/scale`, 'merge', { kind: null }, 200, /"kind":"Scale"/],
  [`${sets}/rows/scale`, 'merge', { apiVersion: null }, 400, /name must be provided/],
  [
    `${sets}/rows/scale`,
    'merge',
    { kind: 'x' },
    422,
    /no kind \\"x\\" is registered for version \\"autoscaling\/v1/,
  ],
  [
    `${sets}/rows/scale`,
    'merge',
    { metadata: { uid: 'x' } },
    409,
    /deployments\/scale.apps \\"rows\\": Precondition failed: UID in precondition: x, UID in object meta: /,
  ],
  [
    `${sets}/rows/scale`,
    'merge',
    { metadata: { namespace: null } },
    422,
    /metadata.namespace: Required value/,
  ],
  [
    `${sets}/rows/status`,
    'strategic',
    { status: { replicas: 2 } },
    200,
    /"status":\{"replicas":2\}/,
  ],
  [`${budgets}/rows`, 'merge', { apiVersion: 'policy/v1beta1' }, 200, /"apiVersion":"policy\/v1"/],
  [
    `${budgets}/rows`,
    'merge',
    { apiVersion: 'policy/v9' },
    422,
    /registered for version \\"policy\/v9\\"/,
  ],
  [
    `${maps}/rows`,
    'merge',
    { kind: 'Secret' },
    422,
    /v1\.Secret\.Data: decode base64: illegal base64 data at input byte 0, error found in #10 byte of /,
  ],
  ...['Secret', 'Status', 'DeleteOptions', 'PatchOptions'].map(
    (kind): Elsewhere => [
      `${maps}/rows`,
      'merge',
      { kind, data: null },
      422,
      new RegExp(`converting \\(v1\\.${kind}\\) to \\(core\\.ConfigMap\\): unknown conversion`),
    ],
  ),
  [
    `${budgets}/rows`,
    'merge',
    { apiVersion: 'a/b/c' },
    422,
    /unexpected GroupVersion string: a\/b\/c/,
  ],
  [
    `${budgets}/rows`,
    'merge',
    { apiVersion: null, kind: 'x' },
    422,
    /the internal version of group \\"policy\\"/,
  ],
  [
    `${maps}/rows`,
    'merge',
    { kind: 1.5 },
    422,
    /cannot unmarshal number into Go struct field \.kind of type string/,
  ],
  [
    `${maps}/rows`,
    'json',
    [1.5],
    400,
    /cannot unmarshal number into Go value of type jsonpatch\.Operation/,
  ],
  [`${maps}/none`, 'merge', {}, 404, /configmaps \\"none\\" not found/],
]
for (const [path, method, body, status, tells] of elsewhere) {
  test(`${method} ${JSON.stringify(body)} to ${path.split('/').slice(-3).join('/')}`, async () => {
    const answer = await say(server, { method, path, body, query: 'dryRun=All' })
    assert.equal(answer.status, status, answer.text)
    assert.match(JSON.stringify(answer.body), tells)
  })
}

/** Requests of newer clients about unknown or duplicate fields. */
const checked: [method: string, path: string, type: string, body: string, says: string[]][] = [
  ['POST', maps, 'json', '{"metadata":{"name":"n"},"date":{}}', ['unknown field "date"']],
  [
    'POST',
    maps,
    'json',
    '{"metadata":{"name":"n"},"data":{"a":"1","a":"2"}}',
    ['duplicate field "data.a"'],
  ],
  [
    'PUT',
    `${maps}/rows`,
    'json',
    '{"metadata":{"name":"rows","name":"rows"}}',
    ['duplicate field "metadata.name"'],
  ],
  ['PATCH', `${maps}/rows`, 'merge-patch+json', '{"date":{}}', ['unknown field "date"']],
  [
    'PATCH',
    `${maps}/rows`,
    'merge-patch+json',
    '{"data":{"a":"1","a":"2"}}',
    ['duplicate field "data.a"'],
  ],
  [
    'PATCH',
    `${maps}/rows`,
    'strategic-merge-patch+json',
    '{"data":{"a":"1","a":"2"}}',
    ['duplicate field "data.a"'],
  ],
  [
    'PATCH',
    `${maps}/rows`,
    'json-patch+json',
    '[{"op":"add","path":"/date","value":{},"op":"add"}]',
    ['json patch duplicate field "[0].op"', 'unknown field "date"'],
  ],
  [
    'PATCH',
    `${maps}/rows`,
    'json-patch+json',
    '[{"op":"add","path":"/data/c","value":"1","frob":1}]',
    ['json patch unknown field "[0].frob"'],
  ],
  [
    'PATCH',
    `${sets}/rows`,
    'strategic-merge-patch+json',
    '{"spec":{"foo":1,"replicas":1,"replicas":2,"template":{"spec":{"containers":[{"name":"c","bar":1}]}}}}',
    [
      'duplicate field "spec.replicas"',
      'unknown field "spec.foo"',
      'unknown field "spec.template.spec.containers[0].bar"',
    ],
  ],
  [
    'PATCH',
    `${sets}/rows/scale`,
    'strategic-merge-patch+json',
    '{"spec":{"foo":1,"replicas":1}}',
    ['unknown field "spec.foo"'],
  ],
  [
    'POST',
    maps,
    'json',
    '{"metadata":{"name":"n","foo":1,"labels":{"a":"1","a":"2","a":"3"}},"bar":{"x":1,"x":2},"bar":1,"aa":1}',
    [
      'unknown field "metadata.foo"',
      'duplicate field "metadata.labels.a"',
      'unknown field "bar"',
      'unknown field "aa"',
    ],
  ],
  [
    'POST',
    maps,
    'yaml',
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: nn\n  foo: 1\n  foo: 2\ndata:\n  1: a\n  1: b\nbar: 1\n',
    [
      'line 6: key "foo" already set in map',
      'line 9: key 1 already set in map',
      'unknown field "bar"',
      'unknown field "metadata.foo"',
    ],
  ],
  [
    'POST',
    '/apis/x.io/v1/namespaces/default/gears',
    'json',
    '{"apiVersion":"x.io/v1","kind":"Gear","metadata":{"name":"g","foo":1},"zz":1,"spec":{"b":2,"a":"1","l":[{"m":1,"n":"1"}],"free":{"x":1}},"aa":1,"aa":2}',
    [
      'duplicate field "aa"',
      'unknown field "metadata.foo"',
      'unknown field "aa"',
      'unknown field "spec.b"',
      'unknown field "spec.l[0].m"',
      'unknown field "zz"',
    ],
  ],
]
for (const [method, path, type, body, says] of checked) {
  test(`${method} ${body} with fieldValidation`, async () => {
    const ask = (query: string) =>
      server.ask(method, `${path}?dryRun=All${query}`, Buffer.from(body), {
        'content-type': `application/${type}`,
      })
    for (const query of ['', '&fieldValidation=Ignore']) {
      const { status, headers, text } = await ask(query)
      assert.ok(status < 300, text)
      assert.equal(headers?.warning, undefined)
    }
    const { headers } = await ask('&fieldValidation=Warn')
    const warned = says.map((one) => `299 - ${JSON.stringify(one)}`).join(', ')
    assert.equal(String(headers?.warning), warned)
    const { status, body: refusal } = await ask('&fieldValidation=Strict')
    assert.equal(status, 400)
    const lines = says.filter((one) => one.startsWith('line'))
    const ofYaml = lines.length > 0 ? [['yaml: unmarshal errors:', ...lines].join('\n  ')] : []
    const why = [...ofYaml, ...says.slice(lines.length)].join(', ')
    assert.ok(refusal.message.endsWith(`strict decoding error: ${why}`), refusal.message)
  })
}

test('a patch that removes the version reports all fields as unknown', async () => {
  const bodies: [type: string, body: unknown][] = [
    ['merge', { apiVersion: null, zz: 1 }],
    [
      'json',
      [
        { op: 'remove', path: '/apiVersion' },
        { op: 'add', path: '/zz', value: 1 },
      ],
    ],
  ]
  for (const [type, body] of bodies) {
    const headers = { 'content-type': `application/${type}-patch+json` }
    const ask = (query: string) =>
      server.ask('PATCH', `${maps}/rows?dryRun=All${query}`, body, headers)
    const warned = await ask('&fieldValidation=Warn')
    assert.equal(warned.status, 400)
    const unknown = ['data', 'metadata', 'zz'].map((name) => `unknown field "${name}"`)
    const warnings = unknown.map((one) => `299 - ${JSON.stringify(one)}`).join(', ')
    assert.equal(String(warned.headers?.warning), warnings)
    assert.equal((await ask('&fieldValidation=Ignore')).headers?.warning, undefined)
    const strict = await ask('&fieldValidation=Strict')
    assert.equal(strict.status, 400)
    assert.ok(strict.body.message.endsWith(`strict decoding error: ${unknown.join(', ')}`))
  }
})

test('a strategic patch may have more unknown fields than a call takes', async () => {
  const body = Object.fromEntries(Array.from({ length: 150_000 }, (_, i) => [`f${i}`, 1]))
  const headers = { 'content-type': 'application/strategic-merge-patch+json' }
  const path = `${maps}/rows?dryRun=All&fieldValidation=Warn`
  const { status, headers: told } = await server.ask('PATCH', path, body, headers)
  assert.equal(status, 200)
  assert.match(String(told?.warning), /^299 - "unknown field \\"f0\\"", /)
})

test('fieldValidation that there is not is refused', async () => {
  const kinds = { POST: 'CreateOptions', PUT: 'UpdateOptions', PATCH: 'PatchOptions' }
  for (const [method, kind] of Object.entries(kinds)) {
    const path = method === 'POST' ? maps : `${maps}/rows`
    const type = method === 'PATCH' ? 'merge-patch+json' : 'json'
    const headers = { 'content-type': `application/${type}` }
    const { status, body } = await server.ask(method, `${path}?fieldValidation=Bad`, {}, headers)
    assert.equal(status, 422)
    assert.equal(
      body.message,
      `${kind}.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Bad": supported values: "", "Ignore", "Strict", "Warn"`,
    )
  }
})

test('owners that a Scale names twice appear once, with a warning', async () => {
  const twice = { metadata: { ownerReferences: [{ name: 'a' }, { name: 'a' }] } }
  const path = `${sets}/rows/scale`
  const { headers } = await say(server, { method: 'merge', path, body: twice })
  assert.match(String(headers?.warning), /ownerReferences contains duplicate entries/)
})

test('a quantity that is nothing is shown as one', async () => {
  const spec = { accessModes: ['ReadWriteOnce'], capacity: { a: null }, hostPath: { path: '/x' } }
  const { status, body } = await server.ask('POST', '/api/v1/persistentvolumes', {
    metadata: { name: 'p' },
    spec,
  })
  assert.equal(status, 422)
  assert.match(body.message, /core\.ResourceList\{"a":resource\.Quantity\{.*Format:""\}\}/)
})

const tests = (length: number) =>
  Array.from({ length }, () => ({ op: 'test', path: '/data/a', value: '1' }))
const big = { op: 'add', path: '/data/big', value: 'x'.repeat(2 ** 19) }
const copies = (length: number) =>
  Array.from({ length }, (_, i) => ({ op: 'copy', from: '/data/big', path: `/data/x${i}` }))

const limits: [what: string, body: unknown, says: RegExp][] = [
  ['10,000 operations', tests(10_000), /^\{"data":\{"a":"1","b":"2"\}/],
  [
    '10,001 operations',
    tests(10_001),
    /^"413 Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"$/,
  ],
  [
    'copies of more than 3 MB together',
    [big, ...copies(7)],
    /^"422 the server rejected our request due to an error in our request"$/,
  ],
  [
    'copies that make too large an object',
    [big, ...copies(3)],
    /^"422 .*Too long: must have at most 1048576 bytes"$/,
  ],
]
for (const [what, body, says] of limits) {
  test(`a JSON patch with ${what}`, async () => {
    const path = `${maps}/rows`
    const answer = await say(server, { method: 'json', path, body, query: 'dryRun=All' })
    assert.match(JSON.stringify(said(answer)), says)
  })
}

test('what cannot be read is shown in the order of its type, whatever defaults added', async () => {
  const type = { 'content-type': 'application/merge-patch+json' }
  const { body } = await server.ask('PATCH', `${sets}/rows`, { spec: true }, type)
  const shown = body.message.replaceAll('\\', '')
  const members = shown.slice(shown.indexOf('"metadata":{') + 12, shown.indexOf('"managedFields"'))
  assert.deepEqual(
    [...members.matchAll(/"(\w+)":/g)].map(([, name]) => name),
    ['name', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp'],
  )
})

const gears = '/apis/x.io/v1/namespaces/default/gears'
const tooLarge: [how: string, method: string, body: string, code: number][] = [
  [
    'json',
    'POST',
    '{"metadata":{"name":"large"},"kind":"Gear","apiVersion":"x.io/v1","spec":{"free":{"z":1e400}}}',
    400,
  ],
  ['merge-patch+json', 'PATCH', '{"spec":{"free":{"z":1e400}}}', 422],
  ['json-patch+json', 'PATCH', '[{"op":"add","path":"/spec/free","value":{"z":1e400}}]', 422],
]
for (const [how, method, body, code] of tooLarge) {
  test(`a custom object has no number larger than any, ${how}`, async () => {
    const gear = {
      apiVersion: 'x.io/v1',
      kind: 'Gear',
      metadata: { name: how.replace('+', '.') },
      spec: {},
    }
    assert.equal((await server.ask('POST', gears, gear)).status, 201)
    const path = method === 'POST' ? gears : `${gears}/${how.replace('+', '.')}`
    const type = { 'content-type': `application/${how}` }
    const answer = await server.ask(method, path, Buffer.from(body), type)
    assert.equal(answer.status, code)
    assert.match(
      answer.body.message,
      /readNumberAsString: invalid number, error found in #10 byte of/,
    )
  })
}

test('a custom object as deep as a body may be can be changed, listed and deleted', async () => {
  let deep: object = {}
  for (let depth = 1; depth < 297; depth++) deep = { a: deep }
  const gear = {
    apiVersion: 'x.io/v1',
    kind: 'Gear',
    metadata: { name: 'deep' },
    spec: { free: deep },
  }
  assert.equal((await server.ask('POST', gears, gear)).status, 201)
  const merge = { 'content-type': 'application/merge-patch+json' }
  assert.equal(
    (await server.ask('PATCH', `${gears}/deep`, { spec: { a: 'b' } }, merge)).status,
    200,
  )
  const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }
  assert.equal((await server.ask('GET', gears, undefined, table)).status, 200)
  assert.equal((await server.ask('DELETE', `${gears}/deep`)).status, 200)
})
