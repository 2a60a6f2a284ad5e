import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { encodeObject } from '#codec/protobuf.ts'
import type { Type } from '#schema/type.ts'
import { type Served, startServed } from '#http/served.fixture.ts'

let served: Served
before(async () => {
  served = await startServed()
})
after(() => served.stop())

const configMaps = '/api/v1/namespaces/default/configmaps?dryRun=All'
const json = 'application/json'
const yaml = 'application/yaml'
const whole =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
const unrecognized = (why: string) =>
  `the object provided is unrecognized (must be of type ConfigMap): ${why}`

test('the media type decides how a body is decoded', async () => {
  const cases: [type: string | undefined, body: string, status: number][] = [
    [undefined, '{"metadata":{"name":"a"}}', 201],
    [json, '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}', 201],
    ['application/json; charset=utf-8', '{"metadata":{"name":"a"}}', 201],
    [yaml, 'metadata: {name: a}', 201],
    [yaml, '{"metadata":{"name":"a"}}', 201],
    [json, 'metadata: {name: a}', 400],
    ['text/plain', '{"metadata":{"name":"a"}}', 415],
    ['application/merge-patch+json', '{"metadata":{"name":"a"}}', 415],
    ['application/json, application/yaml', '{"metadata":{"name":"a"}}', 415],
    ['*/*', '{"metadata":{"name":"a"}}', 415],
    // An empty group means the core group.
    [json, '{"kind":"ConfigMap","apiVersion":"/v1","metadata":{"name":"a"}}', 201],
    [json, '{"kind":"ConfigMap","apiVersion":"v2","metadata":{"name":"a"}}', 400],
    [json, '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"}}', 400],
    // Header keys are case-insensitive, and the last one is used; YAML keys are sorted first.
    [json, '{"kind":"ConfigMap","Kind":"Secret","metadata":{"name":"a"}}', 400],
    [json, '{"Kind":"Secret","kind":"ConfigMap","metadata":{"name":"a"}}', 201],
    [yaml, '{"kind":"ConfigMap","Kind":"Secret","metadata":{"name":"a"}}', 201],
    [json, 'null', 422],
  ]
  for (const [type, body, status] of cases) {
    const headers = type === undefined ? {} : { 'content-type': type }
    const answer = await served.ask('POST', configMaps, { headers, body })
    assert.equal(answer.status, status, `${type} ${body}: ${answer.text}`)
  }
  assert.deepEqual(served.defects, [])
})

test('the error for an unreadable body quotes its start', async () => {
  const cases: [type: string, body: string, message: string][] = [
    [
      json,
      '',
      unrecognized(
        "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
      ),
    ],
    [
      json,
      '{',
      unrecognized("couldn't get version/kind; json parse error: unexpected end of JSON input ({)"),
    ],
    [
      json,
      '[]',
      unrecognized(
        `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${whole} (5b5d)`,
      ),
    ],
    [
      json,
      '{"apiVersion":"a/b/c"}',
      unrecognized('unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})'),
    ],
    [
      json,
      '{"kind":1,"metadata":{"name":"a-name-that-is-long"}}',
      unrecognized(
        `couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"kind":1,"metadata":{"name":" ...)`,
      ),
    ],
  ]
  for (const [type, body, message] of cases) {
    const { status, json: stated } = await served.ask('POST', configMaps, {
      headers: { 'content-type': type },
      body,
    })
    assert.equal(status, 400, body)
    assert.equal(stated.message, message)
  }
})

test('prototype names are ordinary keys', async () => {
  const body =
    '{"metadata":{"name":"a","labels":{"__proto__":"1","constructor":"2"}},"data":{"__proto__":"3","constructor":"4","toString":"5"}}'
  for (const type of [json, yaml]) {
    const { status, text } = await served.ask('POST', configMaps, {
      headers: { 'content-type': type },
      body,
    })
    // A label must not begin with an underscore; this error shows that it was not lost.
    assert.equal(status, 422, type)
    assert.match(text, /__proto__/)
    const plain = body.replace('"__proto__":"1",', '')
    const answer = await served.ask('POST', configMaps, {
      headers: { 'content-type': type },
      body: plain,
    })
    assert.equal(answer.status, 201, answer.text)
    assert.match(answer.text, /"data":\{"__proto__":"3","constructor":"4","toString":"5"\}/)
    assert.match(answer.text, /"labels":\{"constructor":"2"\}/)
  }
})

test('strategic patches are read as a stream, other patches as one value', async () => {
  await served.verbs.create('configmaps', { metadata: { name: 'live' }, data: { k: 'v' } })
  const strategic = 'application/strategic-merge-patch+json'
  const cases: [type: string, body: string, status: number, message?: string][] = [
    [strategic, '', 400, 'EOF'],
    [strategic, ' \n', 400, 'EOF'],
    [strategic, '{', 400, 'unexpected EOF'],
    [strategic, '{"data":', 400, 'unexpected EOF'],
    [strategic, '{"data":{"x":"1"}}trailing', 200],
    [strategic, '{} {}', 200],
    [strategic, 'x', 400, "invalid character 'x' looking for beginning of value"],
    ['application/merge-patch+json', '{}x', 400],
    ['application/json-patch+json', '[]x', 400],
    [
      'application/apply-patch+yaml',
      '{',
      400,
      'error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content',
    ],
    [
      'application/apply-patch+yaml',
      '{"a":',
      400,
      'error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content',
    ],
  ]
  const url = '/api/v1/namespaces/default/configmaps/live?dryRun=All&fieldManager=m'
  for (const [type, body, status, message] of cases) {
    const answer = await served.ask('PATCH', url, { headers: { 'content-type': type }, body })
    assert.equal(answer.status, status, `${type} ${body}: ${answer.text}`)
    if (message !== undefined) assert.equal(answer.json.message, message)
  }
})

test('an update validates its options before its body, a create afterwards', async () => {
  const bad = { headers: { 'content-type': 'text/plain' }, body: '{}' }
  const tooLong = `fieldManager=${'x'.repeat(129)}`
  const post = await served.ask('POST', `${configMaps}&${tooLong}`, bad)
  const put = await served.ask('PUT', `/api/v1/namespaces/default/configmaps/a?${tooLong}`, bad)
  assert.deepEqual([post.status, put.status], [415, 422])
})

test('a dry run may name a resourceVersion and returns it; a create may not', async () => {
  const body = '{"metadata":{"name":"versioned","resourceVersion":"7"}}'
  const dry = await served.ask('POST', configMaps, { body })
  assert.equal(dry.status, 201, dry.text)
  assert.equal(dry.json.metadata.resourceVersion, '7')
  const wet = await served.ask('POST', configMaps.replace('?dryRun=All', ''), { body })
  assert.equal(wet.status, 400)
  assert.equal(wet.json.message, 'resourceVersion should not be set on objects to be created')
})

test('a create rejects a resourceVersion only if it is a version', async () => {
  const rows: [string, number][] = [
    ['1', 400],
    ['007', 400],
    ['9007199254740993', 400],
    ['18446744073709551615', 400],
    ['18446744073709551616', 201],
    ['0', 201],
    ['00', 201],
    ['-1', 201],
    ['+5', 201],
    [' 5', 201],
    ['1.5', 201],
    ['1e3', 201],
    ['0x5', 201],
    ['1_000', 201],
    ['Infinity', 201],
    ['abc', 201],
  ]
  for (const [i, [resourceVersion, status]] of rows.entries()) {
    const body = JSON.stringify({ metadata: { name: `version-${i}`, resourceVersion } })
    const answer = await served.ask('POST', configMaps.replace('?dryRun=All', ''), { body })
    assert.equal(answer.status, status, resourceVersion)
    if (status === 201) assert.match(answer.json.metadata.resourceVersion, /^[1-9]\d*$/)
  }
})

test('duplicate members and odd numbers are read as kube-apiserver reads them', async () => {
  const services = '/api/v1/namespaces/default/services?dryRun=All'
  const service = (port: string) =>
    `{"metadata":{"name":"a"},"spec":{"ports":[{"port":80}],"ports":[{"name":"x"${port}}]}}`
  const cases: [type: string, body: string, status: number, tells: RegExp][] = [
    [json, service(''), 201, /"name":"x","port":80/],
    [json, service(',"port":81'), 201, /"port":81/],
    [json, service(',"port":81.0'), 400, /v1\.ServicePort\.Port: assertInteger: can not decode/],
    [json, service(',"port":6000000000'), 422, /Invalid value: 1705032704/],
    [yaml, 'metadata: {name: a}\nspec: {ports: [{port: 1e2}]}', 201, /"port":100/],
    [
      yaml,
      'metadata: {name: a}\nspec: {ports: [{port: x}]}',
      400,
      /\[\{\\"port\\":\\"x\\"\}\]\}\}/,
    ],
  ]
  for (const [type, body, status, tells] of cases) {
    const answer = await served.ask('POST', services, { headers: { 'content-type': type }, body })
    assert.equal(answer.status, status, `${body}: ${answer.text}`)
    assert.match(String(answer.text), tells)
  }
})

test('numbers of a patch keep their digits', async () => {
  const services = '/api/v1/namespaces/default/services'
  await served.ask('POST', services, {
    body: '{"metadata":{"name":"digits"},"spec":{"ports":[{"port":80}]}}',
  })
  const replaced = (value: string) =>
    `[{"op":"replace","path":"/spec/ports/0/port","value":${value}}]`
  const cases: [type: string, body: string, status: number, tells: RegExp][] = [
    ['merge', '{"spec":{"ports":[{"port":81}]}}', 200, /"port":81/],
    ['merge', '{"spec":{"ports":[{"port":81.0}]}}', 422, /can not decode float as int/],
    ['json', replaced('1e3'), 422, /unexpected char e/],
    ['json', replaced('6000000000'), 422, /Invalid value: 1705032704/],
    ['strategic-merge', '{"spec":{"ports":[{"port":80,"name":"x"}]}}', 200, /"name":"x"/],
  ]
  for (const [type, body, status, tells] of cases) {
    const headers = { 'content-type': `application/${type}-patch+json` }
    const answer = await served.ask('PATCH', `${services}/digits?dryRun=All`, { headers, body })
    assert.equal(answer.status, status, `${body}: ${answer.text}`)
    assert.match(String(answer.text), tells)
  }
})

test('the body of a subresource may be protobuf of its own kind', async () => {
  await served.verbs.create('pods', {
    metadata: { name: 'sent' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  })
  const { uid } = (await served.ask('GET', '/api/v1/namespaces/default/pods/sent')).json.metadata
  await served.verbs.create('replicationcontrollers', {
    metadata: { name: 'sent' },
    spec: {
      replicas: 1,
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      },
    },
  })
  const metadata = { name: 'sent', namespace: 'default' }
  const target = { kind: 'Node', name: 'n' }
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, spec: { replicas: 4 } }
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata, target }
  const cases: [method: string, path: string, body: Loose, status: number][] = [
    ['PUT', 'replicationcontrollers/sent/scale', scale, 200],
    ['POST', 'pods/sent/binding', { ...binding, metadata: { ...metadata, uid } }, 201],
    ['POST', 'pods/sent/binding', scale, 400],
    [
      'POST',
      'pods/sent/eviction',
      {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata,
        deleteOptions: { preconditions: { uid: 'other' } },
      },
      409,
    ],
  ]
  const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
  for (const [method, path, object, status] of cases) {
    const type = served.parts.server.typeNamed(object.apiVersion, object.kind) as Type
    const body = encodeObject(type, object)
    const answer = await served.ask(method, `/api/v1/namespaces/default/${path}`, { headers, body })
    assert.equal(answer.status, status, `${path}: ${answer.text}`)
  }
  const read = async (path: string) =>
    (await served.ask('GET', `/api/v1/namespaces/default/${path}`)).json
  assert.equal((await read('replicationcontrollers/sent')).spec.replicas, 4)
  assert.equal((await read('pods/sent')).spec.nodeName, 'n')
})
