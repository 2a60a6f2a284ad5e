/** The checks of a write before its object is decoded, in order, and the effect of its options. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Served, startServed } from '#http/served.fixture.ts'

let served: Served
before(async () => {
  served = await startServed({ limits: { bodyBytesMax: 3 << 20 } })
  await served.verbs.create('configmaps', { metadata: { name: 'here' } })
})
after(() => served.stop())

const maps = '/api/v1/namespaces/default/configmaps'
const here = `${maps}/here`
const body = '{"metadata":{"name":"here"},"data":{"a":"1"}}'
const json = 'application/json'
const merge = 'application/merge-patch+json'
const apply = 'application/apply-patch+yaml'
const long = 'm'.repeat(129)

type Row = [
  method: string,
  url: string,
  type: string | undefined,
  body: string,
  status: number,
  message?: RegExp,
]
const rows: Row[] = [
  // A create checks its media type before its options, an update afterwards.
  ['POST', `${maps}?dryRun=x`, 'text/plain', body, 415],
  ['PUT', `${here}?dryRun=x`, 'text/plain', body, 422, /^UpdateOptions.meta.k8s.io "" is invalid/],
  ['POST', `${maps}?dryRun=x`, json, '{', 422, /^CreateOptions.meta.k8s.io "" is invalid/],
  ['POST', maps, json, '{', 400, /unexpected end of JSON input/],
  ['POST', maps, json, '', 400],
  ['PUT', here, 'text/plain', body, 415],
  ['PATCH', `${here}?dryRun=x`, 'text/plain', body, 415, /^415: Unsupported Media Type$/],
  ['PATCH', `${here}?dryRun=x`, merge, body, 422, /^PatchOptions.meta.k8s.io "" is invalid/],
  ['POST', `${maps}?dryRun=All&dryRun=x`, json, body, 422, /dryRun: Unsupported value/],
  ['PUT', `${here}?fieldManager=${long}`, json, body, 422, /fieldManager: Too long/],
  ['PUT', `${here}?fieldManager=a%07b`, json, body, 422, /fieldManager: Invalid value/],
  ['PATCH', here, apply, body, 422, /fieldManager: Required value: is required for apply patch/],
  [
    'PATCH',
    `${here}?force=true`,
    merge,
    body,
    422,
    /force: Forbidden: may not be specified for non-apply patch/,
  ],
  ['PATCH', `${here}?force=false`, merge, body, 422, /force: Forbidden/],
  ['PATCH', here, merge, '', 400],
  ['PATCH', here, 'text/plain', '', 406, /^406: Not Acceptable$/],
  ['PUT', here, json, '{"metadata":{"name":"other"}}', 400, /does not match the name on the URL/],
  ['PUT', here, json, '{"metadata":{}}', 400, /name must be provided/],
]
for (const [method, url, type, sent, status, message] of rows) {
  test(`${method} ${url.slice(maps.length).slice(0, 40)} ${type} ${sent.slice(0, 30)}: ${status}`, async () => {
    const length = String(Buffer.byteLength(sent))
    const requested = { headers: { 'content-type': type, 'content-length': length }, body: sent }
    const answer = await served.ask(method, url, requested)
    assert.equal(answer.status, status, answer.text)
    if (message !== undefined) assert.match(answer.json.message, message)
    assert.deepEqual(served.defects, [])
  })
}

/** Text beyond ASCII is sent as UTF-8, and Node makes a character of each byte. */
const sent = (agent: string): string => Buffer.from(agent).toString('latin1')
const managers: [query: string, agent: string | undefined, expected: string][] = [
  ['?fieldManager=named', 'agent/1', 'named'],
  ['', 'kubectl/v1.22.0 (linux/amd64)', 'kubectl'],
  ['', 'plain', 'plain'],
  ['', '/nothing', 'unknown'],
  ['', undefined, 'unknown'],
  ['?fieldManager=', 'agent/1', 'agent'],
  ['', sent('jürgen/1'), 'jürgen'],
  ['', sent('ü'.repeat(100)), 'ü'.repeat(64)],
  ['', sent(`${'a'.repeat(127)}üb/1`), 'a'.repeat(127)],
]
for (const [i, [query, agent, expected]] of managers.entries()) {
  test(`the manager by ${query || 'no parameter'} and ${agent ?? 'no agent'}: ${expected}`, async () => {
    const answer = await served.ask('POST', `${maps}${query}`, {
      headers: { 'content-type': json, 'user-agent': agent },
      body: JSON.stringify({ metadata: { name: `m${i}` }, data: { a: '1' } }),
    })
    assert.equal(answer.status, 201, answer.text)
    assert.equal(answer.json.metadata.managedFields[0].manager, expected)
  })
}

const defaults: [gate: boolean, query: string, status: number, warning: string | undefined][] = [
  [true, '?fieldValidation=Ignore', 201, undefined],
  [true, '?fieldValidation=Strict', 400, undefined],
  [true, '', 201, '299 - "unknown field \\"bogus\\""'],
  [false, '', 201, undefined],
]
for (const [gate, query, status, warning] of defaults) {
  test(`gate ServerSideFieldValidation ${gate}, ${query || 'no query'}: ${status} ${warning}`, async () => {
    const { server } = served.verbs as { server: { feature: (gate: string) => boolean } }
    const { feature } = server
    server.feature = (name) => (name === 'ServerSideFieldValidation' ? gate : feature(name))
    try {
      const answer = await served.ask('POST', `${maps}${query}`, {
        headers: { 'content-type': json },
        body: '{"metadata":{"generateName":"unknown-"},"bogus":1}',
      })
      assert.equal(answer.status, status, answer.text)
      assert.equal(answer.headers.warning?.toString(), warning)
    } finally {
      server.feature = feature
    }
  })
}

test('an empty dryRun means no dry run', async () => {
  const requested = (name: string) => ({
    headers: { 'content-type': json },
    body: JSON.stringify({ metadata: { name } }),
  })
  assert.equal((await served.ask('POST', `${maps}?dryRun=All`, requested('dry'))).status, 201)
  assert.equal((await served.ask('GET', `${maps}/dry`)).status, 404)
  assert.equal((await served.ask('POST', `${maps}?dryRun=`, requested('wet'))).status, 201)
  assert.equal((await served.ask('GET', `${maps}/wet`)).status, 200)
})

test("a webhook gets the client's deadline", async () => {
  const { admission } = served.verbs.server
  const reported: string[] = []
  admission.mutate = ({ operation, deadlineAt }) =>
    void reported.push(`${operation} ${deadlineAt! > 0}`)
  const written: [method: string, at: string, type: string][] = [
    ['POST', `${maps}?`, json],
    ['PUT', `${maps}/timed?`, json],
    ['PATCH', `${maps}/timed?`, merge],
    ['PATCH', `${maps}/timed?fieldManager=m&force=true&`, apply],
    ['DELETE', `${maps}/timed?`, json],
  ]
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'timed' } }
  for (const [method, at, type] of written) {
    const body = method === 'DELETE' ? '' : JSON.stringify(object)
    const answer = await served.ask(method, `${at}timeout=30s`, {
      headers: { 'content-type': type, 'content-length': String(body.length) },
      body,
    })
    assert.ok(answer.status < 300, answer.text)
  }
  Reflect.deleteProperty(admission, 'mutate')
  const updates = Array(3).fill('UPDATE true')
  assert.deepEqual(reported, ['CREATE true', ...updates, 'DELETE true'])
})

test('a patch checks its media type before the Accept header', async () => {
  const answered = async (type: string) => {
    const headers = { 'content-type': type, accept: 'text/html', 'content-length': '9' }
    return (await served.ask('PATCH', here, { headers, body })).status
  }
  assert.deepEqual([await answered('text/plain'), await answered(merge)], [415, 406])
})
