/**
 * Sections 2.6, 4.4 and 7 of the specification, sentence by sentence. They cover the envelope of
 * protobuf, what is negotiated by default and by fallback, and which status says what.
 */
import assert from 'node:assert/strict'
import { get } from 'node:https'
import { core, maps, type Row, specify, type Wire } from './specification.fixture.ts'

const protobuf = 'application/vnd.kubernetes.protobuf'
const json = 'application/json'
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1beta1'
const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00])
const webhooks = '/apis/admissionregistration.k8s.io/v1beta1/validatingwebhookconfigurations'
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'

/** The fields of a message of short texts and bytes, by number. */
function fieldsOf(message: Buffer): Map<number, Buffer> {
  const fields = new Map<number, Buffer>()
  for (let at = 0; at < message.length; ) {
    const tag = message[at++] as number
    assert.equal(tag & 7, 2, 'length-delimited')
    let length = 0
    for (let shift = 0; ; shift += 7) {
      const byte = message[at++] as number
      length |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    fields.set(tag >> 3, message.subarray(at, at + length))
    at += length
  }
  return fields
}

const field = (number: number, value: string | Buffer): Buffer => {
  const bytes = Buffer.from(value as string)
  const length = [bytes.length & 0x7f]
  for (let rest = bytes.length >> 7; rest > 0; rest >>= 7) {
    length[length.length - 1] |= 0x80
    length.push(rest & 0x7f)
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes])
}

const read = ({ server }: Wire, path: string): Promise<Buffer> =>
  server.send('GET', path, undefined, { accept: protobuf })

async function post(on: Wire, sent: Buffer): Promise<string> {
  const { body } = await on.ask('POST', maps, sent, { 'content-type': protobuf, accept: json })
  return body.kind === 'Status' ? String(body.code) : `${body.kind} ${body.metadata.name}`
}

const envelope: Row[] = [
  [
    '2.6',
    'four bytes, then a message with the type and the object; encoding and content type are left out',
    async (on) => {
      await on.map('wrapped', { data: { a: 'b' } })
      const seen: [path: string, apiVersion: string, kind: string][] = [
        [`${maps}/wrapped`, 'v1', 'ConfigMap'],
        [maps, 'v1', 'ConfigMapList'],
        ['/apis/apps/v1/namespaces/default/deployments', 'apps/v1', 'DeploymentList'],
      ]
      for (const [path, apiVersion, kind] of seen) {
        const bytes = await read(on, path)
        assert.deepEqual(bytes.subarray(0, 4), magic, path)
        const message = fieldsOf(bytes.subarray(4))
        const type = fieldsOf(message.get(1) as Buffer)
        assert.deepEqual([type.get(1)?.toString(), type.get(2)?.toString()], [apiVersion, kind])
        assert.ok((message.get(2) as Buffer).length > 0, path)
        assert.deepEqual([message.get(3) ?? '', message.get(4) ?? ''].map(String), ['', ''])
      }
    },
  ],
  [
    '2.6',
    'the object is whole within its field: put in another envelope it is the same object',
    async (on) => {
      await on.map('rewrapped', { data: { a: 'b' } })
      const raw = fieldsOf((await read(on, `${maps}/rewrapped`)).subarray(4)).get(2) as Buffer
      await on.expect(200, 'DELETE', `${maps}/rewrapped`)
      // What was stored has a version, and what is new has none: only the name is sent.
      const meta = field(1, field(1, 'rewrapped'))
      assert.ok(raw.includes(field(1, 'rewrapped')))
      const type = Buffer.concat([field(1, 'v1'), field(2, 'ConfigMap')])
      const whole = Buffer.concat([magic, field(1, type), field(2, meta)])
      assert.equal(await post(on, whole), 'ConfigMap rewrapped')
      const named = (name: string) => field(2, field(1, field(1, name)))
      // Every field but the object may be left out: the path says the type.
      assert.equal(await post(on, Buffer.concat([magic, named('untyped')])), 'ConfigMap untyped')
      const told = Buffer.concat([magic, field(1, type), named('told'), field(4, protobuf)])
      assert.equal(await post(on, told), 'ConfigMap told')
    },
  ],
  [
    '2.6',
    'another prefix, a message cut short and none are refused',
    async (on) => {
      const type = Buffer.concat([field(1, 'v1'), field(2, 'ConfigMap')])
      const message = Buffer.concat([field(1, type), field(2, field(1, field(1, 'never')))])
      const rows = [
        Buffer.concat([Buffer.from([0x6b, 0x38, 0x73, 0x01]), message]),
        message,
        Buffer.concat([magic, message.subarray(0, -3)]),
        magic.subarray(0, 3),
        Buffer.from('{"metadata":{"name":"never"}}'),
      ]
      for (const body of rows) assert.equal(await post(on, body), '400', body.toString('hex'))
      await on.expect(404, 'GET', `${maps}/never`)
    },
  ],
]

const contentTypes: Row[] = [
  [
    '4.4',
    'JSON is what is spoken where nothing else is said, and every answer says what it is',
    async (on) => {
      const rows: [accept: string | undefined, type: string][] = [
        [undefined, json],
        ['*/*', json],
        [json, json],
        [protobuf, protobuf],
        ['application/yaml', 'application/yaml'],
        [table, json],
      ]
      for (const [accept, type] of rows) {
        const headers = accept === undefined ? {} : { accept }
        const answer = await on.expect(200, 'GET', `${core}/namespaces/default`, undefined, headers)
        assert.equal(String(answer.headers?.['content-type']), type, accept)
      }
      const refused = await on.expect(406, 'GET', maps, undefined, { accept: 'text/html' })
      assert.equal(String(refused.headers?.['content-type']), json)
      assert.equal(refused.body.reason, 'NotAcceptable')
    },
  ],
  [
    '4.4.1',
    'a body of a type nobody reads is 415',
    async (on) => {
      const type = { 'content-type': 'text/html' }
      const { body } = await on.expect(415, 'POST', maps, { metadata: { name: 'x' } }, type)
      assert.equal(body.reason, 'UnsupportedMediaType')
    },
  ],
]

const hook = (sideEffects: string) => ({
  name: 'a.example.com',
  sideEffects,
  admissionReviewVersions: ['v1', 'v1beta1'],
  clientConfig: { url: 'https://127.0.0.1:1/' },
  failurePolicy: 'Ignore',
  rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
})

/** Without the administrator's certificate, with an unknown token. */
function fetchUnknown({ server }: Wire): Promise<{ code: number; reason: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer none' }
    const options = { rejectUnauthorized: false, headers }
    get(`${server.url}${maps}`, options, (answer) => {
      let text = ''
      answer.on('data', (chunk) => (text += chunk)).on('end', () => resolve(JSON.parse(text)))
    }).on('error', reject)
  })
}

const statuses: Row[] = [
  [
    '7, 200',
    'a dry run answers with what would be, and a server that is well with 200',
    async (on) => {
      const sent = { metadata: { name: 'would-be' }, data: { a: 'b' } }
      const { body } = await on.expect(201, 'POST', `${maps}?dryRun=All`, sent)
      assert.deepEqual([body.metadata.name, body.data], ['would-be', { a: 'b' }])
      await on.expect(404, 'GET', `${maps}/would-be`)
      await on.map('is')
      const put = { metadata: { name: 'is' }, data: { c: 'd' } }
      const changed = await on.expect(200, 'PUT', `${maps}/is?dryRun=All`, put)
      assert.deepEqual(changed.body.data, { c: 'd' })
      for (const path of ['/healthz', '/livez', '/readyz']) await on.expect(200, 'GET', path)
    },
  ],
  [
    '7, 400',
    'a page that goes on cannot be of another version',
    async (on) => {
      await on.map('page-a')
      await on.map('page-b')
      const { body } = await on.expect(200, 'GET', `${maps}?limit=1`)
      const { continue: token, resourceVersion } = body.metadata
      const next = `${maps}?limit=1&continue=${token}`
      await on.expect(400, 'GET', `${next}&resourceVersion=${resourceVersion}`)
      await on.expect(200, 'GET', `${next}&resourceVersion=0`)
      await on.expect(200, 'GET', next)
    },
  ],
  [
    '7.1',
    'to apply what another owns and means otherwise is a conflict that names owner and field',
    async (on) => {
      const type = { 'content-type': 'application/apply-patch+yaml' }
      const apply = (manager: string, value: string, more = '') => [
        `${maps}/owned?fieldManager=${manager}${more}`,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owned' }, data: { k: value } },
        type,
      ]
      const ask = (status: number, ...rest: Parameters<typeof apply>) => {
        const [path, body, headers] = apply(...rest) as [string, object, Record<string, string>]
        return on.expect(status, 'PATCH', path, body, headers)
      }
      await ask(201, 'one', '1')
      const { body } = await ask(409, 'two', '2')
      assert.deepEqual([body.kind, body.reason], ['Status', 'Conflict'])
      assert.deepEqual(
        body.details.causes.map((cause: { field: string }) => cause.field),
        ['.data.k'],
      )
      assert.match(body.message, /conflict with "one": \.data\.k/)
      await ask(200, 'two', '1')
      await ask(409, 'two', '3')
      await ask(200, 'two', '3', '&force=true')
    },
  ],
  [
    '7.6',
    'who is not known is 401, and what is not allowed is 403',
    async (on) => {
      const unknown = await fetchUnknown(on)
      assert.deepEqual([unknown.code, unknown.reason], [401, 'Unauthorized'])
      const other = { 'impersonate-user': 'nobody' }
      const { body } = await on.expect(403, 'GET', maps, undefined, other)
      assert.equal(body.reason, 'Forbidden')
    },
  ],
]

/** What only older releases show. */
const older: Row[] = [
  [
    '4.6',
    'a page does not count the rest, says the path as it was asked, and how its version is meant is not heard',
    async (on) => {
      const asked = `${core}/namespaces/`
      const { body } = await on.expect(200, 'GET', `${asked}?limit=1&resourceVersionMatch=x`)
      const { selfLink, continue: next, remainingItemCount } = body.metadata
      assert.deepEqual([selfLink, next !== '', remainingItemCount], [asked, true, undefined])
    },
  ],
  [
    '4.5',
    'nobody is sent a bookmark',
    async (on) => {
      const { events } = await on.watch(`${core}/namespaces?allowWatchBookmarks=true`)
      assert.ok(events.length > 0 && events.every(({ type }) => type === 'ADDED'))
    },
  ],
  [
    '4.4.2',
    'where there are no tables, a list of types falls back to JSON',
    async (on) => {
      await on.expect(406, 'GET', roles, undefined, { accept: table })
      const accept = `${table}, ${json}`
      const { body } = await on.expect(200, 'GET', roles, undefined, { accept })
      assert.equal(body.kind, 'ClusterRoleList')
      const pods = await on.expect(200, 'GET', `${core}/pods`, undefined, { accept })
      assert.equal(pods.body.kind, 'Table')
    },
  ],
  [
    '7.2',
    'a dry run that would reach a webhook with side effects fails',
    async (on) => {
      const secrets = `${core}/namespaces/default/secrets?dryRun=All`
      const path = `${webhooks}/effects`
      const rows: [sideEffects: string, status: number][] = [
        ['Some', 400],
        ['Unknown', 400],
        ['None', 201],
        ['NoneOnDryRun', 201],
      ]
      for (const [sideEffects, status] of rows) {
        const sent = { metadata: { name: 'effects' }, webhooks: [hook(sideEffects)] }
        await on.expect(201, 'POST', webhooks, sent)
        const answer = await on.expect(status, 'POST', secrets, { metadata: { name: 'dry' } })
        if (status === 400) assert.match(answer.body.message, /does not support dry run/)
        await on.expect(200, 'DELETE', path)
      }
    },
  ],
]

specify('sections 2.6, 4.4 and 7', [], [...envelope, ...contentTypes, ...statuses])
specify('sections 4.4 to 4.6 and 7 of an older release', ['--emulated-version=1.15'], older)
