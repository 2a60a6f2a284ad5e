/**
 * Responses of the HTTP layer that changed between releases: each row is a request and the
 * responses on both sides of the change.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { type Served, startServed } from './served.fixture.ts'

const servers = new Map<number, Promise<Served>>()
after(async () => {
  for (const served of servers.values()) await (await served).stop()
})

async function started(release: number): Promise<Served> {
  const served = await startServed({ release })
  await served.verbs.create('configmaps', { metadata: { name: 'here' }, data: { a: '1' } })
  return served
}

function at(release: number): Promise<Served> {
  const made = servers.get(release) ?? started(release)
  servers.set(release, made)
  return made
}

const maps = '/api/v1/namespaces/default/configmaps'
const here = `${maps}/here`
const jsonPatch = 'application/json-patch+json'
const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const apply = 'application/apply-patch+yaml'
const manager = 'fieldManager=m'

interface Row {
  readonly request: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** By release: the status and the message, or its start before `…`. */
  readonly expected: Readonly<Record<number, string>>
}

const noAccept = '406 406: Not Acceptable'
const forms = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
const streams = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'
const listed = (types: string) => `${noAccept}\n\nAvailable representations: ${types}`
const notMap = 'json: cannot unmarshal array into Go value of type map[string]interface {}'
const decoding = '400 error decoding patch: json: cannot unmarshal'
const again = 'yaml: unmarshal errors:\n  line 3: key "kind" already set in map'
const faultyDate = 'strict decoding error: duplicate field "date.a", unknown field "date"'

const noPod = 'no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:'

const rows: Row[] = [
  {
    request: `GET ${maps}`,
    headers: { accept: 'text/html' },
    expected: { 24: noAccept, 25: listed(`${forms}, ${streams}`) },
  },
  {
    request: `GET ${here}`,
    headers: { accept: 'text/html' },
    expected: { 24: noAccept, 25: listed(forms) },
  },
  {
    request: `GET ${here}`,
    headers: { accept: 'application/json;as=' },
    expected: { 16: '406 only the following media types are accepted: …', 17: '200' },
  },
  {
    request: `DELETE ${maps}?dryRun=All&watch=true&continue=garbage`,
    expected: {
      31: '400 invalid continue token: …',
      32: '422 ListOptions.meta.k8s.io "" is invalid: …',
      33: '400 invalid continue token: …',
      34: '422 ListOptions.meta.k8s.io "" is invalid: …',
    },
  },
  {
    request: `DELETE ${maps}`,
    body: '{"kind":"DeleteOptions","apiVersion":"v9","dryRun":["All"]}',
    expected: { 24: '500 no kind "DeleteOptions" is registered for version "v9"…', 25: '200' },
  },
  {
    request: `GET /apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests?fieldSelector=metadata.namespace%3Dx`,
    expected: { 37: '400 field label not supported: metadata.namespace' },
  },
  {
    request: `DELETE ${maps}?dryRun=All&resourceVersion=1`,
    expected: { 27: '409 Operation cannot be fulfilled on …', 28: '200' },
  },
  {
    request: `PATCH ${here}`,
    headers: { 'content-type': 'text/plain' },
    expected: {
      24: noAccept,
      25: '415 415: Unsupported Media Type\n\nAvailable representations: ',
      33: '415 415: Unsupported Media Type\n\nAvailable representations: ',
      34: '415 415: Unsupported Media Type',
    },
  },
  {
    request: `PATCH ${here}`,
    headers: { 'content-type': merge },
    body: '{',
    expected: { 36: '400 unexpected end of JSON input', 37: '400 invalid JSON patch' },
  },
  {
    request: `PATCH ${maps}/missing`,
    headers: { 'content-type': merge },
    body: '{',
    expected: { 36: '404 configmaps "missing" not found', 37: '400 invalid JSON patch' },
  },
  {
    request: `PATCH ${here}?${manager}`,
    headers: { 'content-type': apply },
    body: '{',
    expected: {
      36: '400 error decoding YAML: error converting YAML to JSON: yaml: …',
      37: '400 error encoding patch: yaml: …',
    },
  },
  {
    request: `PATCH ${here}?${manager}`,
    headers: { 'content-type': apply },
    body: '[]',
    expected: {
      36: `400 error decoding YAML: error unmarshaling JSON: while decoding JSON: ${notMap}`,
      37: `400 error decoding patch: error unmarshaling JSON: while decoding JSON: ${notMap}`,
    },
  },
  {
    request: `PATCH ${here}?${manager}`,
    headers: { 'content-type': apply },
    body: '{"metadata":{"name":"here"}}',
    expected: {
      27: '400 Incorrect version specified in apply patch. …',
      28: '400 invalid object type: /, Kind=',
    },
  },
  {
    request: `PATCH ${here}?${manager}`,
    headers: { 'content-type': apply },
    body: '{"apiVersion":"v1","kind":"Secret","metadata":{"managedFields":[{}]}}',
    expected: {
      27: '400 metadata.managedFields must be nil',
      28: '400 invalid object type: /v1, Kind=Secret',
    },
  },
  {
    request: `PATCH ${here}?fieldValidation=Warn`,
    headers: { 'content-type': jsonPatch },
    body: '{}',
    expected: {
      22: '400 json: cannot unmarshal object into Go value of type jsonpatch.Patch',
      23: `${decoding} object into Go value of type []handlers.jsonPatchOp`,
    },
  },
  {
    request: `PATCH ${here}?fieldValidation=Warn`,
    headers: { 'content-type': jsonPatch },
    body: '[{"op":1}]',
    expected: {
      23: `${decoding} number into Go struct field jsonPatchOp.op of type string`,
    },
  },
  {
    request: `PATCH ${here}?fieldValidation=Ignore`,
    headers: { 'content-type': jsonPatch },
    body: '{}',
    expected: { 37: '400 json: cannot unmarshal object into Go value of type jsonpatch.Patch' },
  },
  {
    request: `PATCH ${here}`,
    headers: { 'content-type': merge },
    body: '[]',
    expected: { 37: `400 error decoding patch: ${notMap}` },
  },
  {
    request: `PATCH ${here}?dryRun=All`,
    headers: { 'content-type': strategic },
    body: '{} {',
    expected: { 22: '200', 23: "400 invalid character '{' after top-level value" },
  },
  {
    request: `PATCH ${here}?fieldValidation=Strict`,
    headers: { 'content-type': strategic },
    body: '{"date":{"a":1,"a":2}}',
    expected: {
      22: `400 ${faultyDate}`,
      23: `422  "" is invalid: patch: Invalid value: "map[date:map[a:2]]": ${faultyDate}`,
    },
  },
  {
    request: `PATCH ${here}?fieldValidation=Strict`,
    headers: { 'content-type': jsonPatch },
    body: '[{"op":"add","path":"/date","value":{},"frob":1}]',
    expected: {
      22: '400 strict decoding error: json patch unknown field "[0].frob", unknown field "date"',
      23: '422  "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"v1\\",…',
    },
  },
  {
    request: `PATCH ${here}?${manager}&dryRun=All&fieldValidation=Strict`,
    headers: { 'content-type': apply },
    body: 'apiVersion: v1\nkind: ConfigMap\nkind: ConfigMap\n',
    expected: {
      36: `400 error strict decoding YAML: error converting YAML to JSON: ${again}`,
      37: `400 error strict decoding patch: error converting YAML to JSON: ${again}`,
    },
  },
  {
    request: `DELETE ${here}`,
    headers: { 'content-type': 'application/json' },
    body: '{"gracePeriodSeconds":"x"}',
    expected: {
      22: '500 v1.DeleteOptions.GracePeriodSeconds: readUint64: unexpected character: …',
      34: '500 json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds …',
      35: '400 json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds …',
    },
  },
  {
    request: `DELETE ${here}`,
    headers: { 'content-type': 'application/json' },
    body: '{"kind":"Pod","apiVersion":"v1"}',
    expected: {
      32: `500 ${noPod}100"`,
      33: `500 ${noPod}110"`,
      34: `500 ${noPod}110"`,
      35: `400 ${noPod}111"`,
    },
  },
]
for (const { request, headers = {}, body, expected } of rows)
  for (const [release, wanted] of Object.entries(expected))
    test(`1.${release}: ${request} ${Object.values(headers)} ${body ?? ''}`, async () => {
      const served = await at(Number(release))
      const [method = '', url = ''] = request.split(' ')
      const length = body === undefined ? {} : { 'content-length': String(body.length) }
      const requested = { headers: { ...length, ...headers }, ...(body !== undefined && { body }) }
      const { status, json } = await served.ask(method, url, requested)
      const answer = status === 200 ? '200' : `${status} ${json.message}`
      if (wanted.endsWith('…'))
        assert.equal(answer.slice(0, wanted.length - 1), wanted.slice(0, -1))
      else assert.equal(answer, wanted)
    })

const labels = { a: 'b' }
const controller = {
  metadata: { name: 'rc' },
  spec: {
    replicas: 2,
    selector: labels,
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}
const asTable = 'application/json;as=Table;g=meta.k8s.io;v=v1'
const tables: [release: number, subresource: string, cells: unknown[] | undefined][] = [
  [23, 'scale', undefined],
  [24, 'scale', ['rc', 2, 0]],
  [23, 'status', undefined],
  [24, 'status', ['rc', 2, 0, 0]],
  [37, 'scale', ['rc', 2, 0]],
]
for (const [release, subresource, cells] of tables)
  test(`1.${release}: the ${subresource} of a controller as a table`, async () => {
    const { verbs, ask } = await startServed({ release })
    after(() => verbs.stop())
    await verbs.create('replicationcontrollers', controller)
    const url = `/api/v1/namespaces/default/replicationcontrollers/rc/${subresource}`
    const { status, json } = await ask('GET', url, { headers: { accept: asTable } })
    assert.equal(status, cells === undefined ? 406 : 200)
    assert.deepEqual(json.rows?.[0].cells.slice(0, cells?.length), cells)
  })

interface Frame {
  readonly type: string
  readonly object: { readonly kind: string; readonly metadata: Record<string, unknown> }
}
const watchList = 'watch=1&timeoutSeconds=1&resourceVersionMatch=NotOlderThan&sendInitialEvents='
const ended = 'BOOKMARK k8s.io/initial-events-end'
const watches: [release: number, query: string, events: string[]][] = [
  [37, `${watchList}true&allowWatchBookmarks=true`, ['ADDED', ended]],
  [37, `${watchList}true`, ['ADDED']],
  [37, `${watchList}true&allowWatchBookmarks=true&resourceVersion=1`, ['ADDED', ended]],
  [37, `${watchList}false&allowWatchBookmarks=true`, []],
  [37, 'watch=1&timeoutSeconds=1&allowWatchBookmarks=true', ['ADDED', ended]],
  [37, 'watch=1&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=0', ['ADDED', ended]],
  [37, `${watchList}true&resourceVersion=99999`, ['ERROR']],
  [37, 'watch=1&timeoutSeconds=-1', ['ADDED']],
  [31, 'watch=1&timeoutSeconds=1&allowWatchBookmarks=true', ['ADDED']],
  [33, 'watch=1&timeoutSeconds=1&allowWatchBookmarks=true', ['ADDED']],
]
for (const [release, query, events] of watches)
  for (const accept of ['application/json', `${asTable},application/json`])
    test(`1.${release}: ${query} as ${accept}`, async () => {
      const { text } = await (await at(release)).ask('GET', `${maps}?${query}`, {
        headers: { accept },
      })
      const frames = text.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Frame] : []))
      const seen = frames.map(({ type, object }) => {
        const row = (object as unknown as { rows?: { object: Frame['object'] }[] }).rows?.[0]
        const { annotations } = (row?.object ?? object).metadata
        return [type, ...Object.keys((annotations as object | undefined) ?? {})].join(' ')
      })
      // A watch ends with a bookmark.
      assert.deepEqual(
        seen.filter((one) => one !== 'BOOKMARK'),
        events,
      )
    })

const packings: [release: number, query: string, encoding: string | undefined][] = [
  [37, 'watch=1&timeoutSeconds=1&allowWatchBookmarks=true', 'gzip'],
  [37, 'watch=1&timeoutSeconds=1', undefined],
  [37, 'watch=1&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=1', undefined],
  [36, 'watch=1&timeoutSeconds=1&allowWatchBookmarks=true', undefined],
]
for (const [release, query, encoding] of packings)
  test(`1.${release}: ${query} is sent as ${encoding ?? 'it is'}`, async () => {
    const served = await at(release)
    const headers = { 'accept-encoding': 'gzip' }
    const answer = await served.ask('GET', `${maps}?${query}`, { headers })
    assert.equal(answer.headers['content-encoding'], encoding)
    const bytes = encoding === undefined ? answer.body : gunzipSync(answer.body)
    assert.match(bytes.toString('utf8'), /^{"type":"ADDED",/)
  })
